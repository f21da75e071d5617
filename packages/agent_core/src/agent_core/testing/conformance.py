"""What every store of logs has to keep to, as checks that any implementation can run.

Invariant: a check uses the ``EventStore`` protocol and nothing else, on a store that is new and empty. Each is a
coroutine function of the store that raises ``AssertionError``; its name says what is promised.

>>> for check in CHECKS:
...     await check(MyStore())
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ..store.base import EventStore
from . import keeping_checks, lease_checks, log_checks, search_checks

Check = Callable[[EventStore], Awaitable[None]]

CHECKS: Sequence[Check] = (
    log_checks.events_come_back_in_order_and_unchanged,
    log_checks.times_given_with_the_events_are_kept,
    log_checks.another_head_than_expected_is_a_conflict,
    log_checks.a_session_that_does_not_exist_is_said_to_be_unknown,
    log_checks.a_batch_is_appended_whole_or_not_at_all,
    log_checks.concurrent_appends_to_one_session_never_leave_a_gap,
    log_checks.concurrent_appends_to_many_sessions_all_arrive,
    log_checks.a_reader_sees_whole_batches_while_others_append,
    log_checks.empty_and_huge_payloads_are_kept,
    log_checks.many_events_are_read_in_pages_without_loss,
    log_checks.unknown_events_and_fields_survive_byte_for_byte,
    log_checks.contents_are_found_by_name_and_by_forks,
    log_checks.a_content_that_is_known_already_may_come_again,
    log_checks.a_fork_inherits_up_to_its_event_and_goes_on_alone,
    log_checks.forks_of_forks_are_read_through_the_whole_chain,
    log_checks.only_an_event_that_exists_can_be_forked_at,
    log_checks.the_head_is_the_newest_event,
    log_checks.equal_events_have_different_hashes,
    log_checks.sessions_are_listed_with_the_latest_first,
    log_checks.the_answer_of_a_model_is_kept_in_full,
    lease_checks.a_held_lease_keeps_others_out,
    lease_checks.a_lease_that_ran_out_can_be_taken_over,
    lease_checks.a_renewed_lease_goes_on_holding,
    lease_checks.appends_without_a_lease_are_commands_and_pass,
    lease_checks.a_new_session_can_be_created_with_its_lease,
    lease_checks.a_lease_is_given_back_with_the_last_append,
    lease_checks.giving_back_what_was_never_held_is_harmless,
    lease_checks.a_lease_can_be_taken_before_the_first_event,
    keeping_checks.the_newest_snapshot_is_found,
    keeping_checks.a_snapshot_of_another_schema_is_not_found,
    keeping_checks.a_snapshot_behind_the_head_is_not_taken,
    keeping_checks.a_fork_begins_at_snapshots_of_what_it_inherited,
    keeping_checks.a_head_from_outside_shows_what_is_missing,
    keeping_checks.a_session_moves_whole_to_another_store,
    keeping_checks.a_session_comes_back_as_it_was,
    keeping_checks.a_masked_session_is_kept_as_masked,
    keeping_checks.an_erased_session_keeps_its_chain_and_nothing_else,
    keeping_checks.what_a_fork_inherited_is_erased_with_its_parent,
    keeping_checks.erasing_a_fork_leaves_its_parent_alone,
    keeping_checks.a_session_that_is_driven_is_not_erased,
    keeping_checks.an_erased_session_moves_as_one,
    search_checks.a_question_finds_what_answers_it_best,
    search_checks.what_was_said_at_the_time_that_is_meant_comes_first,
    search_checks.only_the_events_that_are_searched_are_found,
    search_checks.what_a_fork_inherited_is_found_and_nothing_of_others,
    search_checks.all_stores_find_the_same,
    search_checks.what_was_appended_since_is_found,
    search_checks.what_was_frozen_into_a_message_is_not_its_own,
    search_checks.an_erased_session_is_not_found,
    search_checks.a_masked_session_is_found_as_masked,
    search_checks.sessions_are_found_by_all_the_words,
)
"""All of them. A check that is not in here is a mistake (a test of the kit looks)."""
