"""The commands that this package brings to ``erpilot``, one a module (see ``erpilot.cli.extensions``)."""
