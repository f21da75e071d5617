"""What servers say when they refuse or fail, and what each of it means: the wordings of many vendors."""

from __future__ import annotations

from typing import Any

import pytest

from agent_core.model.failures import Endpoint, classify

SAID: list[tuple[int, Any, str, bool, str | None, str | None]] = [
    # status, body, kind, retryable, remedy, param
    (400, {'error': {'message': "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", 'type': 'invalid_request_error', 'param': 'temperature', 'code': 'unsupported_value'}}, 'unsupported_parameter', True, 'drop_param', 'temperature'),
    (400, {'error': {'message': 'Unrecognized request argument supplied: parallel_tool_calls', 'type': 'invalid_request_error', 'param': None, 'code': None}}, 'unsupported_parameter', True, 'drop_param', 'parallel_tool_calls'),
    (400, {'error': {'message': "Unknown parameter: 'foo'.", 'type': 'invalid_request_error', 'param': 'foo', 'code': 'unknown_parameter'}}, 'unsupported_parameter', True, 'drop_param', 'foo'),
    (422, {'detail': [{'type': 'extra_forbidden', 'loc': ['body', 'stream_options'], 'msg': 'Extra inputs are not permitted', 'input': {}}]}, 'unsupported_parameter', True, 'drop_param', 'stream_options'),
    (422, {'object': 'error', 'message': {'detail': [{'type': 'extra_forbidden', 'loc': ['body', 'messages', 2, 'assistant', 'reasoning_content'], 'msg': 'Extra inputs are not permitted'}]}, 'type': 'invalid_request_error', 'code': None}, 'unsupported_parameter', True, 'drop_param', 'reasoning_content'),
    (400, {'error': {'message': "property 'reasoning_content' is unsupported", 'type': 'invalid_request_error'}}, 'unsupported_parameter', True, 'drop_param', 'reasoning_content'),
    (400, {'error': {'message': "Additional properties are not allowed ('parallel_tool_calls' was unexpected)"}}, 'unsupported_parameter', True, 'drop_param', 'parallel_tool_calls'),
    (400, {'error': {'message': "litellm.UnsupportedParamsError: openai does not support parameters: ['temperature'], for model=o1"}}, 'unsupported_parameter', True, 'drop_param', 'temperature'),
    (400, {'error': 'json: unknown field "stream_options"'}, 'unsupported_parameter', True, 'drop_param', 'stream_options'),
    (400, {'error': {'message': 'Invalid JSON payload received. Unknown name "additionalProperties" at \'tools[0].function_declarations[0].parameters\': Cannot find field.', 'code': 400, 'status': 'INVALID_ARGUMENT'}}, 'invalid_request', True, 'simplify_schema', 'tools'),
    (400, {'error': {'message': 'max_tokens is too large: 100000. This model supports at most 4096 completion tokens', 'type': 'invalid_request_error', 'param': 'max_tokens'}}, 'unsupported_parameter', True, 'drop_param', 'max_tokens'),
    (400, {'error': {'message': "Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false", 'param': 'tools[0].function.parameters', 'code': 'invalid_function_parameters'}}, 'invalid_request', True, 'simplify_schema', 'tools'),
    (400, {'error': {'message': "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", 'param': 'tools[0].function.name', 'code': 'invalid_value'}}, 'invalid_request', True, 'shorten_tool_names', 'tools'),
    (400, {'error': {'message': "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.", 'param': 'tools[0].function.name', 'code': 'string_above_max_length'}}, 'invalid_request', True, 'shorten_tool_names', 'tools'),
    (400, {'error': {'message': 'tools.0.custom.name: String should have at most 64 characters', 'type': 'invalid_request_error'}}, 'invalid_request', True, 'shorten_tool_names', 'tools'),
    (400, {'error': {'message': 'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row', 'type': 'invalid_request_error'}}, 'invalid_request', True, 'merge_roles', 'messages'),
    (400, {'error': {'message': 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant', 'type': 'invalid_request_error', 'code': '3230'}}, 'invalid_request', True, 'merge_roles', 'messages'),
    (400, {'error': {'message': 'System message must be at the beginning.'}}, 'invalid_request', True, 'merge_roles', 'messages'),
    (400, {'error': {'message': "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", 'param': 'messages.[3].role'}}, 'invalid_request', True, 'pair_tool_messages', 'messages'),
    (400, {'error': {'message': 'messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.'}}, 'invalid_request', True, 'pair_tool_messages', 'messages'),
    (400, {'error': {'message': 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.', 'status': 'INVALID_ARGUMENT', 'code': 400}}, 'invalid_request', True, 'pair_tool_messages', 'messages'),
    (400, {'error': {'message': 'Not the same number of function calls and responses', 'code': '3230'}}, 'invalid_request', True, 'pair_tool_messages', 'messages'),
    (400, {'error': {'message': 'messages.1.content: Input should be a valid string', 'type': 'invalid_request_error'}}, 'invalid_request', True, 'content_empty_string', 'messages'),
    (400, {'error': {'message': "Invalid value for 'content': expected a string, got null.", 'type': 'invalid_request_error', 'param': 'messages.[2].content'}}, 'invalid_request', True, 'content_empty_string', 'messages'),
    (422, {'detail': [{'type': 'string_type', 'loc': ['body', 'messages', 1, 'content'], 'msg': 'Input should be a valid string', 'input': None}]}, 'invalid_request', True, 'content_empty_string', 'messages'),
    (400, {'error': {'message': 'messages.3: all messages must have non-empty content except for the optional final assistant message'}}, 'invalid_request', True, 'content_null', 'messages'),
    (400, {'error': {'message': "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.", 'param': 'tools', 'code': 'empty_array'}}, 'invalid_request', True, 'omit_empty_tools', 'tools'),
    (400, {'error': {'message': "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"}}, 'invalid_request', True, 'tool_id_9_alnum', 'messages'),
    (400, {'error': {'message': "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 53 instead.", 'param': 'messages[2].tool_calls[0].id', 'code': 'string_above_max_length'}}, 'invalid_request', True, 'tool_id_9_alnum', 'messages'),
    (400, {'error': {'message': 'Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to the docs', 'type': 'invalid_request_error', 'code': 'invalid_request_error'}}, 'invalid_request', True, 'send_reasoning_content', 'messages'),
    (400, {'error': {'message': 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2'}}, 'invalid_request', True, 'send_reasoning_content', 'messages'),
    (400, {'error': {'message': 'Streaming is not supported for this model'}}, 'unsupported_parameter', True, 'disable_stream', 'stream'),
    (400, {'error': {'message': 'This model only support stream mode, please enable the stream parameter to access the model.', 'code': 'invalid_parameter_error'}}, 'unsupported_parameter', True, 'enable_stream', 'stream'),
    (400, {'error': {'message': "This model's maximum context length is 8192 tokens, however you requested 9000 tokens (8000 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length."}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'prompt is too long: 210000 tokens > 200000 maximum', 'type': 'invalid_request_error'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 'status': 'INVALID_ARGUMENT'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'Please reduce the length of the messages or completion.', 'code': 'context_length_exceeded'}}, 'context_overflow', False, 'compact_history', None),
    (429, {'error': {'message': 'Request too large for gpt-4 on tokens per min (TPM): Limit 10000, Requested 12000.', 'code': 'rate_limit_exceeded'}}, 'rate_limit', True, None, None),
    (400, {'error': {'message': 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length', 'code': '3051'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'the request exceeds the available context size. try increasing the context size or enable context shift'}}, 'context_overflow', False, 'compact_history', None),
    (500, {'error': {'message': 'Context size has been exceeded.'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'message': 'Input is too long for requested model.'}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'The engine prompt length 40000 exceeds the max_model_len 32768. Please reduce prompt.'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': 'tokens + max_new_tokens must be <= 8192. Given: 9000 inputs tokens and 512 max_new_tokens', 'type': 'validation'}}, 'context_overflow', False, 'compact_history', None),
    (400, {'error': {'message': '输入文本过长，超过最大上下文长度'}}, 'context_overflow', False, 'compact_history', None),
    (429, {'error': {'message': 'You exceeded your current quota, please check your plan and billing details. Please retry in 22.5s.', 'code': 429, 'status': 'RESOURCE_EXHAUSTED', 'details': [{'retryDelay': '22s'}]}}, 'rate_limit', True, None, None),
    (429, {'error': {'message': 'Too Many Requests'}}, 'rate_limit', True, None, None),
    (400, {'error': {'message': 'ThrottlingException: Too many tokens, please wait before trying again.'}}, 'rate_limit', True, None, None),
    (400, {'message': 'Rate exceeded: too many concurrent requests'}, 'rate_limit', True, None, None),
    (429, {'error': {'message': 'Your account balance is insufficient', 'type': 'exceeded_current_quota_error'}}, 'quota', False, None, None),
    (403, {'error': {'message': 'The free quota has been exhausted', 'code': 'AllocationQuota.FreeTierOnly'}}, 'quota', False, None, None),
    (400, {'error': {'message': 'Access denied, please make sure your account is in good standing.', 'code': 'Arrearage'}}, 'quota', False, None, None),
    (400, {'error': {'message': 'Your credit balance is too low to access the Anthropic API.'}}, 'quota', False, None, None),
    (400, {'error': {'message': 'API key not valid. Please pass a valid API key.', 'status': 'INVALID_ARGUMENT', 'code': 400}}, 'auth', False, None, None),
    (401, {'error': {'message': 'No auth credentials found', 'code': 401}}, 'auth', False, None, None),
    (403, {'error': {'message': 'Country, region, or territory not supported', 'code': 'unsupported_country_region_territory'}}, 'auth', False, None, None),
    (404, {'error': {'message': 'The model `gpt-9` does not exist or you do not have access to it.', 'type': 'invalid_request_error', 'code': 'model_not_found'}}, 'model_not_found', False, None, None),
    (400, {'error': {'message': 'Model Not Exist', 'type': 'invalid_request_error', 'code': 'invalid_request_error'}}, 'model_not_found', False, None, None),
    (400, {'error': {'message': 'foo/bar is not a valid model ID', 'code': 400}}, 'model_not_found', False, None, None),
    (404, {'object': 'error', 'message': 'The model `x` does not exist.', 'type': 'NotFoundError', 'code': 404}, 'model_not_found', False, None, None),
    (404, {'error': {'message': 'No endpoints found that support tool use.', 'code': 404}}, 'model_not_found', False, None, None),
    (400, {'error': {'message': "model 'llama2' does not support tools"}}, 'invalid_request', False, None, None),
    (503, {'error': {'message': 'The model is overloaded. Please try again later.', 'status': 'UNAVAILABLE', 'code': 503}}, 'overloaded', True, None, None),
    (503, {'error': {'message': 'Loading model', 'type': 'unavailable_error', 'code': 503}}, 'overloaded', True, None, None),
    (500, {'error': {'message': 'The server had an error processing your request', 'type': 'server_error'}}, 'server_error', True, None, None),
    (504, '<html><title>504 Gateway Time-out</title></html>', 'server_error', True, None, None),
    (524, 'error code: 524', 'server_error', True, None, None),
    (408, {'error': {'message': 'Request timed out'}}, 'timeout', True, None, None),
    (400, {'error': {'message': 'Failed to call a function. Please adjust your prompt.', 'code': 'tool_use_failed', 'failed_generation': 'x'}}, 'tool_generation_failed', True, 'nudge', None),
    (400, {'error': {'message': "tool call validation failed: attempted to call tool 'x' which was not in request.tools", 'code': 'tool_use_failed'}}, 'tool_generation_failed', True, 'nudge', None),
    (400, {'error': {'message': 'Function call is missing a thought_signature in functionCall parts.'}}, 'invalid_request', False, 'send_call_extras', 'messages'),
    (200, {'error': {'message': 'Rate limit exceeded: free-models-per-min. ', 'code': 429, 'metadata': {'headers': {'X-RateLimit-Limit': '20', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1760000060000'}}}}, 'rate_limit', True, None, None),
    (200, {'error': {'message': 'Provider returned error', 'code': 400, 'metadata': {'raw': '{"error":{"message":"This model\'s maximum context length is 8192 tokens"}}'}}}, 'context_overflow', False, 'compact_history', None),
    (200, {'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}, 'overloaded', True, None, None),
    (200, {'error': {'message': 'Internal server error', 'type': 'internal_server_error'}}, 'server_error', True, None, None),
    (200, {'error': {'message': 'CUDA out of memory'}}, 'stream_error', True, None, None),
    (200, {'error': {'message': 'invalid api key', 'type': 'authentication_error'}}, 'auth', False, None, None),
    (200, {'error': {'message': 'something', 'code': '503'}}, 'overloaded', True, None, None),
    (200, {'error': {'message': 'bad', 'type': 'invalid_request_error'}}, 'invalid_request', False, None, None),
    (400, {'error': {'message': 'bad request'}}, 'invalid_request', False, None, None),
    (400, 'Bad Request', 'invalid_request', False, None, None),
    (500, {'error': {'code': 500, 'message': 'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1', 'type': 'server_error'}}, 'server_error', True, None, None),
    (400, {'error': {'message': '`tool_choice` parameter not supported'}}, 'unsupported_parameter', True, 'drop_param', 'tool_choice'),
    (400, {'error': {'message': "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.", 'param': 'max_completion_tokens'}}, 'unsupported_parameter', True, 'rename_param', 'max_completion_tokens'),
    (400, {'error': {'message': 'The parameter `frequency_penalty` is deprecated for this model.'}}, 'unsupported_parameter', True, 'drop_param', 'frequency_penalty'),
    (400, {'error': {'message': 'Argument not supported on this model: reasoning_effort'}}, 'unsupported_parameter', True, 'drop_param', 'reasoning_effort'),
    (400, {'error': {'message': 'seed: Extra inputs are not permitted', 'type': 'invalid_request_error'}}, 'unsupported_parameter', True, 'drop_param', 'seed'),
    (400, {'error': {'message': "got an unexpected keyword argument 'parallel_tool_calls'"}}, 'unsupported_parameter', True, 'drop_param', 'parallel_tool_calls'),
    (500, {'error': {'message': 'Value is not callable: null at row 1 (jinja template)'}}, 'server_error', True, None, None),
]


@pytest.mark.parametrize(("status", "body", "kind", "retryable", "remedy", "param"), SAID)
def test_a_refusal_is_understood(
    status: int, body: Any, kind: str, retryable: bool, remedy: str | None, param: str | None
) -> None:
    error = classify(body, Endpoint("https://host/v1", "m"), status, {})
    assert (error.kind, error.retryable, error.remedy, error.param) == (kind, retryable, remedy, param)
    assert error.message.startswith("The model endpoint https://host/v1 ")
    assert "\n" not in error.message


def test_the_other_name_of_a_parameter_is_told() -> None:
    body = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    assert classify(body, Endpoint(), 400, {}).replacement == "max_completion_tokens"
