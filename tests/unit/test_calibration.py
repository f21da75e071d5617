"""What a model takes for a text is learnt from what it reports."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_core.context.calibration import Calibration, Calibrations, observed, overflowed, rates
from agent_core.sizes import CONSERVATIVE, Size, rates_of

_TRUE = {"wide": 0.62, "latin": 0.23, "message": 4.0, "tools": 0.8}


def _reports(count: int, noise: float = 0.0, seed: int = 3) -> list[tuple[dict[str, float], int]]:
    source = random.Random(seed)
    found = []
    for _ in range(count):
        sizes = {"wide": source.randrange(3000), "latin": source.randrange(20_000), "message": source.randrange(1, 60)}
        features = {**sizes, "tools": 1500.0}
        tokens = sum(features[name] * rate for name, rate in _TRUE.items()) * (1 + noise * source.uniform(-1, 1))
        found.append((features, int(tokens)))
    return found


def _learnt(count: int, noise: float = 0.0) -> Calibration:
    known = Calibration()
    for features, tokens in _reports(count, noise):
        known = observed(known, features, tokens)
    return known


def test_before_any_report_nothing_is_told_and_the_careful_rates_hold() -> None:
    assert rates(Calibration()) == {}
    assert rates_of({}) is CONSERVATIVE
    assert CONSERVATIVE.tokens(Size(wide=100, other=300, parts=2)) == 212


def test_one_report_brings_the_whole_near_and_many_tell_the_scripts_apart() -> None:
    ((features, tokens),) = _reports(1)
    once = rates(observed(Calibration(), features, tokens))
    assert sum(once[name] * size for name, size in features.items()) == pytest.approx(tokens, rel=0.06)
    many = rates(_learnt(40, noise=0.01))
    for name in ("wide", "latin", "tools"):
        assert many[name] == pytest.approx(_TRUE[name], rel=0.12)
    estimates = [
        sum(many[name] * size for name, size in features.items()) / tokens for features, tokens in _reports(30, seed=9)
    ]
    assert all(0.97 <= ratio <= 1.09 for ratio in estimates), estimates


def test_reports_that_cannot_be_true_change_nothing() -> None:
    known = _learnt(5)
    features = {"wide": 0, "latin": 30_000, "message": 10, "tools": 0}
    for reported in (0, 3, 100, 10**6):
        assert observed(known, features, reported) == known


def test_a_model_that_counts_otherwise_from_now_on_is_followed() -> None:
    known = _learnt(60)
    for features, tokens in _reports(150, seed=5):
        known = observed(known, features, int(tokens * 1.4))
    features, tokens = _reports(1, seed=77)[0]
    estimate = sum(rates(known)[name] * size for name, size in features.items())
    assert estimate == pytest.approx(1.4 * tokens, rel=0.1)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**6),
            st.integers(0, 10**6),
            st.integers(0, 500),
            st.integers(0, 9000),
            st.integers(0, 10**6),
        ),
        max_size=20,
    )
)
@settings(max_examples=40, deadline=None)
def test_whatever_is_reported_rates_stay_within_reason(reports: list[tuple[int, int, int, int, int]]) -> None:
    known = Calibration()
    for wide, latin, message, tools, reported in reports:
        known = observed(known, {"wide": wide, "latin": latin, "message": message, "tools": tools}, reported)
    found = rates(known)
    assert all(0 <= value <= 40 for value in found.values())
    if found:
        assert 0.2 <= found["wide"] <= 2.5
        assert 0.08 <= found["latin"] <= 1.2


def test_what_a_model_was_found_to_take_shrinks_at_once_and_grows_slowly() -> None:
    known = overflowed(overflowed(Calibration(), 8000), 9000)
    assert known.window == 8000
    assert rates(known) == {"window": 8000.0}
    for features, tokens in _reports(100):
        known = observed(known, features, tokens)
    assert 12_000 < (known.window or 0) < 16_000


def test_calibrations_are_kept_in_a_file_by_model_and_a_spoilt_file_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "calibration.json"
    kept = Calibrations(path)
    for features, tokens in _reports(3):
        kept.observe("http://host/v1#m", features, tokens)
    kept.save()
    assert Calibrations(path).get("http://host/v1#m") == kept.get("http://host/v1#m")
    assert Calibrations(path).get("http://host/v1#other") == {}
    before = path.stat().st_mtime_ns
    kept.observe("http://host/v1#m", *_reports(4)[3])
    kept.save()
    assert path.stat().st_mtime_ns == before, "what has hardly changed is not written again"
    for content in (b"", b"{", b'{"m": 7}', msgspec.json.encode({"m": {"products": [1], "sent": [], "reports": 9}})):
        path.write_bytes(content)
        assert Calibrations(path).get("http://host/v1#m") == {}
        assert Calibrations(path).get("m") == {}


def test_a_folder_that_cannot_be_written_costs_nothing_but_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Calibrations(tmp_path / "file" / "calibration.json")
    for features, tokens in _reports(3):
        kept.observe("m", features, tokens)
    kept.save()
    assert kept.get("m")
