"""Evaluations: what real models make of the product. They measure and report; tests demand.

Invariant: nothing here is imported by the product, and no evaluation fails because a model is weak.
"""
