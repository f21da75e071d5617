"""The tables by which error texts are understood: what servers say, and what it means.

Invariant: only patterns, no logic. All are matched against lower-case text.
"""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


THROTTLE = _any(
    r"throttl",
    r"rate[ _-]?limit",
    r"too[ _]many[ _]requests",
    r"too many tokens.{0,40}(?:wait|try|slow|per)",
    r"(?:requests?|tokens?|calls?|queries) per[ _-](?:second|minute|hour|day)",
    r"\b(?:rpm|tpm|rpd|tpd|qps|qpm)\b",
    r"concurren(?:t|cy)\b.{0,40}(?:limit|exceed|reached|too many)",
    r"(?:limit|exceed|too many|max\w*).{0,40}concurren(?:t|cy)",
    r"slow[ _]?down",
    r"please (?:wait|retry|try again) (?:in|after|before)",
    r"resource[ _]?(?:has been )?exhausted",
    r"request(?:s)? (?:were |was )?(?:limited|too frequent)",
    r"请求过于频繁|频率|限流|速率|并发",
)
QUOTA_CODES = frozenset(
    {"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached", "billing_not_active", "arrearage",
     "quota_exceeded", "insufficient_credits", "payment_required", "insufficient_user_quota", "access_terminated"}
)  # fmt: skip
QUOTA = _any(
    r"exceeded your current (?:token )?quota",
    r"insufficient[ _](?:\w+ )?(?:quota|balance|credit|fund)",
    r"not enough (?:\w+ )?(?:quota|balance|credit|fund)",
    r"(?:balance|credits?|quota) (?:is |are |was |has been |have been )?(?:too low|insufficient|exhausted|"
    r"depleted|used up|empty)",
    r"billing (?:hard )?limit|check your (?:plan and )?billing|billing details",
    r"out of credits?|no credits?|requires? more credits|credit balance",
    r"payment required|arrear|overdue",
    r"余额不足|欠费|额度不足|账户余额|充值",
)
OVERLOAD = _any(
    r"overload",
    r"(?:at|over|insufficient|no|out of|lack of) (?:\w+ )?capacity",
    r"(?:server|service|engine|model|system|backend)s? (?:is |are )?(?:currently |too |temporarily )*(?:busy|"
    r"unavailable|loading)",
    r"(?:still|currently|is) (?:being )?load(?:ing|ed)",
    r"no (?:available|healthy) (?:\w+ )*(?:server|instance|worker|channel|upstream|provider)",
    r"capacity (?:exceeded|reached)|high (?:demand|load|traffic)",
    r"服务繁忙|系统繁忙|模型繁忙|负载",
)
OVERFLOW_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded",
     "model_context_window_exceeded", "request_too_large", "input_too_long", "prompt_too_long", "context_too_long",
     "max_tokens_exceeded", "tokens_limit_reached"}
)  # fmt: skip
OVERFLOW = _any(
    r"context[ _-]?(?:length|window|size|limit)\w*.{0,80}(?:exceed|is \d|of \d|too (?:long|large|small)|reached|limit)",
    r"(?:exceed|larger|longer|greater|more|bigger|over|beyond|surpass|above)\w*.{0,80}context[ _-]?(?:length|"
    r"window|size|limit)",
    r"maximum (?:context|model|prompt|input|sequence|token)[ _-]?(?:length|size|limit|tokens?)?.{0,40}(?:is|of|"
    r"exceed|limit)",
    r"(?:prompt|input|messages?|request|conversation|history|text|context)s?(?: \w+){0,4} (?:is|are|"
    r"was) too (?:long|large|big)",
    r"too (?:long|large|many)(?: \w+)* (?:prompt|input|context)|too many (?:input |prompt |total )?tokens(?! per)",
    r"(?:input|prompt|query|message)s?(?: tokens?| token count| length| size|"
    r" text)?(?: \(?\d+\)?)?(?: tokens?)? ?(?:exceed|is (?:longer|greater|larger) than)",
    r"range of input length",
    r"(?:input|prompt|total|requested) (?:length|tokens?|token count|size).{0,60}(?:exceed|maximum|limit|at most|"
    r"less than|no more than|longer|greater)",
    r"token (?:count|limit|length).{0,60}exceed|exceed\w*.{0,60}(?:token (?:limit|count)|tokens? allowed|"
    r"number of tokens|max\w* (?:allowed )?(?:input |prompt |token |context |sequence )+(?:length|tokens?|"
    r"limit))",
    r"reduce (?:the |your )?(?:length|size|number of tokens|prompt|input|message|context)",
    r"(?:request|payload|body)(?: entity)? (?:is )?too large",
    r"larger than the (?:maximum|model|context)|prompt contains \d+ tokens|maximum number of (?:input )?tokens",
    r"max_model_len|n_ctx|kv cache",
    r"tokens \+ .{0,40}must be (?:<=|less|at most)",
    r"(?:输入|上下文|提示词|请求|文本|tokens?).{0,20}(?:超过|超出|过长|太长|超长)|(?:超过|超出).{0,20}(?:最大|上下文|长度)",
)
AUTH = _any(
    r"(?:invalid|incorrect|wrong|missing|expired|no|bad|malformed|revoked|provide).{0,24}(?:api[ _-]?key|"
    r"access[ _-]?token|credential|token provided|authentication)",
    r"api[ _-]?key.{0,40}(?:invalid|incorrect|not valid|missing|required|expired|not found|disabled|wrong|"
    r"revoked|provide)",
    r"unauthori[sz]ed|unauthenticated|authentication|not authori[sz]ed|permission denied|forbidden|access denied",
    r"login fail|令牌|密钥|认证失败|鉴权",
)
MODEL_CODES = frozenset(
    {"model_not_found", "model_not_exist", "invalid_model", "modelnotfound", "unknown_model", "deploymentnotfound"}
)
MODEL = _any(
    r"\bmodel\b.{0,120}(?:not[ _]found|not[ _]exist|doesn'?t exist|does not exist|unknown|not available|"
    r"not supported by|no longer|deprecated|decommissioned|not a valid|is not valid)",
    r"(?:no such|unknown|invalid|unsupported|unrecognized|not a valid|cannot find|"
    r"could not find) model\b(?! (?:parameter|field|schema))",
    r"not a valid model|no endpoints found|deployment .{0,60}(?:not exist|not found)",
    r"模型.{0,20}(?:不存在|未找到|无效)",
)
TOOL_GENERATION_CODES = frozenset(
    {"tool_use_failed", "tool_call_validation_failed", "json_validate_failed", "malformed_function_call"}
)
TOOL_GENERATION = _any(
    r"failed to call a function",
    r"tool call validation failed",
    r"(?:failed|unable) to (?:parse|validate|generate) (?:the )?(?:model'?s? |generated )?(?:tool|"
    r"function)[ _]?call(?!.{0,20}arguments as json)",
    r"model (?:generated|produced|output|returned).{0,40}(?:invalid|malformed|unparsable).{0,20}(?:tool|function)",
    r"malformed function call",
)
SERVER = _any(
    r"internal[ _-]?(?:server[ _-]?)?error|server[ _-]?error|\bapi_error\b|unexpected error|bad[ _]gateway|"
    r"gateway[ _]?time-?out|upstream (?:error|timed? ?out)|"
    r"service[ _]error|\binternal\b$"
)
REQUEST = _any(
    r"invalid[ _-]?request|bad[ _-]?request|invalid[ _-]?(?:argument|param|value)|unprocessable|"
    r"validation[ _-]?error|validationexception"
)

# What to do about a refused request: remedy, parameter, pattern; the first that fits.
REMEDIES: tuple[tuple[str, str | None, re.Pattern[str]], ...] = (
    (
        "send_call_extras",
        "messages",
        _any(
            r"(?:missing|lacks?|without|requires?|must (?:have|include|contain)).{0,40}(?:thought[ _]?signature|"
            r"extra_content)",
            r"thought[ _]?signature.{0,60}(?:missing|required|must|not found|absent)",
        ),
    ),
    (
        "send_reasoning_content",
        "messages",
        _any(
            r"reasoning_content.{0,80}(?:must be|missing|required|passed back|is empty|not provided|expected)",
            r"(?:missing|requires?|must (?:include|contain|have|pass)|without|expected).{0,40}reasoning_content",
        ),
    ),
    (
        "pair_tool_messages",
        "messages",
        _any(
            r"must be followed by tool(?: messages|[ _]result)?",
            r"did not have response messages",
            r"tool (?:call )?result\w* (?:does|do|did) not follow",
            r"tool_use\W* ids? (?:were |was )?found without",
            r"unexpected\W+tool_use_id",
            r"role \W*tool\W* must be a response to",
            r"(?:same )?number of function (?:calls? and responses?|response parts)",
            r"tool[ _]calls? (?:and|without) (?:\w+ )?(?:tool[ _])?(?:results?|responses?)",
            r"tool_result\W* blocks?.{0,60}(?:must|corresponding|immediately)",
            r"(?:each|every) tool[ _](?:call|use)\w* must have",
            r"(?:no|missing|without) (?:a )?(?:corresponding|matching|preceding) (?:tool|function)[ _](?:call|"
            r"result|use|response)",
            r"(?:orphan|unmatched|dangling)\w* tool",
            r"tool_call_id.{0,60}(?:not found|no matching|unknown|does not match)",
            r"not the same number of function calls and responses",
        ),
    ),
    (
        "tool_id_9_alnum",
        "messages",
        _any(
            r"tool[ _-]?(?:call|use)[ _-]?id.{0,80}(?:must be|length|match|invalid|format|too long|pattern|"
            r"characters|maximum)",
            r"tool_(?:calls?|use)\W*\d*\W*\.?id.{0,80}(?:match|length|pattern|too long|maximum|invalid)",
            r"(?:invalid|malformed|unsupported|bad) tool[ _-]?(?:call|use)[ _-]?id",
            r"length of 9",
        ),
    ),
    (
        "merge_roles",
        "messages",
        _any(
            r"roles? must alternate",
            r"must alternate (?:between|user)",
            r"alternat(?:e|ing|ion).{0,40}(?:user|assistant|role)",
            r"(?:consecutive|successive|multiple|two).{0,40}(?:user|assistant|system|same role)",
            r"system (?:message|role|prompt)\w*.{0,40}(?:first|beginning|start|only one|once|single)",
            r"(?:only|at most) (?:one|a single) system",
            r"unexpected role",
            r"(?:last|first) (?:message|role).{0,40}(?:must|should|has to) (?:be|have)",
            r"expected last role",
        ),
    ),
    (
        "content_null",
        "messages",
        _any(
            r"content.{0,60}(?:non-?empty|not be empty|cannot be empty|must not be (?:an )?empty|is empty|"
            r"empty string|min(?:imum)?[ _]?length)",
            r"(?:non-?empty|empty).{0,40}(?:content|text)",
            r"text content blocks? must",
        ),
    ),
    (
        "content_empty_string",
        "messages",
        _any(
            r"content.{0,80}(?:null|none(?:type)?\b|nil|missing|required|must be (?:a |of type )?(?:string|text|"
            r"str)|should be (?:a )?(?:valid )?string|expected (?:a |an )?(?:string|array))",
            r"(?:null|none|nil|missing|require[sd]?|without).{0,40}\bcontent\b",
            r"expected a string.{0,20}got null",
        ),
    ),
    (
        "omit_empty_tools",
        "tools",
        _any(
            r"\[\] is too short",
            r"\btools\b.{0,80}(?:empty|too short|at least (?:one|1)|min(?:imum)?[ _]?(?:items|length|number)|"
            r"non-?empty|must not be)",
            r"(?:empty|at least (?:one|1)|too short).{0,40}\btools?\b(?!\.)",
            r"tool_choice.{0,80}(?:only|requires?|without|when|unless).{0,40}tools",
        ),
    ),
    (
        "inline_refs",
        "tools",
        _any(
            r"\$ref\b", r"\$defs?\b", r"(?:unresolved|unresolvable|recursive|cyclic|circular|unknown) (?:schema )?ref"
        ),
    ),
    (
        "shorten_tool_names",
        "tools",
        _any(
            r"(?:tool|function)s?\W*(?:\w+\W+)?name.{0,80}(?:exceed|length|long|maximum|max|characters|match|"
            r"pattern|invalid|must|should|only)",
            r"(?:length|characters|pattern|invalid|too long).{0,40}(?:tool|function)[ _]name",
            r"tools?\W*\d+\W*(?:function|custom)?\W*\.?\W*name\b",
        ),
    ),
    (
        "simplify_schema",
        "tools",
        _any(
            r"(?:json )?schema.{0,80}(?:invalid|not (?:valid|supported|allowed)|unsupported|unknown|too complex|"
            r"must|depth|nest)",
            r"(?:invalid|unsupported|unknown|not a valid|too complex|complexity).{0,60}(?:json )?schema",
            r"tools?\W*\d*\W*(?:\.|\[)?.{0,40}(?:parameters|function_declarations|input_schema)\b",
            r"function_declarations",
            r"(?:keyword|any_?of|one_?of|all_?of|additional_?properties|exclusive_?minimum|pattern_?properties|"
            r"\bconst\b).{0,60}(?:not supported|unsupported|not permitted|not allowed|cannot find|invalid|"
            r"unknown)",
            r"(?:unsupported|unknown name|not supported|unexpected).{0,40}(?:any_?of|one_?of|all_?of|"
            r"additional_?properties|exclusive_?minimum|\$schema|pattern_?properties)",
        ),
    ),
    (
        "enable_stream",
        "stream",
        _any(
            r"only supports? (?:the )?stream",
            r"stream\w*.{0,40}(?:must be (?:set to )?true|is required|required|mandatory|must be enabled|"
            r"should be true)",
            r"(?:enable|requires?|please use|set).{0,20}\bstream(?:ing)?\b(?!_)(?! ?(?:=|to) ?false)",
            r"non-?stream\w*.{0,40}not (?:supported|allowed)",
            r"(?:must|please) stream",
        ),
    ),
    (
        "disable_stream",
        "stream",
        _any(
            r"\bstream\b(?!_).{0,60}(?:not supported|unsupported|not support|not allowed|must be false|not available)",
            r"streaming.{0,60}(?:not|un)[ -]?(?:supported|available|allowed|implemented|enabled)",
            r"(?:not|n't) support (?:\w+ )?stream(?:ing)?\b(?!_)",
        ),
    ),
)

UNSUPPORTED = _any(
    r"unsupported", r"not supported", r"(?:not|n't) support", r"unknown name", r"unknown (?:parameter|field|"
    r"argument|key|property|option)",
    r"unrecognized", r"unexpected (?:keyword|field|parameter|argument|property|key|"
    r"name)", r"was unexpected", r"extra (?:inputs?|fields?)", r"not permitted", r"additional propert(?:y|ies)",
    r"cannot find field", r"is not allowed|not allowed", r"only .{1,24} (?:is|"
    r"are) allowed", r"may only be", r"does not accept", r"deprecated", r"not (?:a )?(?:valid|known|"
    r"recognized) (?:parameter|field|argument|property|option)",
    r"invalid (?:parameter|field|property)", r"no longer supported", r"not available (?:for|with|"
    r"in)", r"invalid \w+: ", r"must be (?:set to )?(?:1|default)\b", r"不支持|未知参数",
)  # fmt: skip
_Q = r"(?:[\"'`\\“‘]{1,2})"
_E = r"(?:[\"'`\\”’]{1,2})"
_PARAM = r"([A-Za-z_][\w.\[\]]*)"
PARAMS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:unsupported|unknown|unrecognized|unexpected|invalid|extra|additional|"
        rf"deprecated)\s+(?:request\s+)?(?:keyword\s+)?(?:name|param\w*|field|argument|property|value|key|option|"
        rf"inputs?)(?:\s+(?:supplied|provided|for|named?))?\s*:?\s*{_Q}{_PARAM}{_E}",
        rf"(?:unknown|unrecognized|unexpected|unsupported|extra)\s+(?:request\s+)?(?:param\w*|field|argument|key|"
        rf"property)(?:\s+(?:supplied|provided))?\s*:?\s*{_PARAM}",
        rf"(?:property|param\w*|field|argument|option|key|setting)\s+{_Q}?{_PARAM}{_E}?\s+(?:is|are|was|not|does|"
        rf"has)\b",
        rf"\(\s*{_Q}{_PARAM}{_E}\s+(?:was|were)\s+unexpected",
        rf"support(?:ed)?\s+(?:the\s+)?(?:param\w*|field|argument)s?\s*:?\s*\[?\s*{_Q}?{_PARAM}",
        rf"(?:argument|param\w*|field|option)s? not (?:supported|allowed|recognized)[^:]{{0,40}}:\s*{_Q}?{_PARAM}",
        rf"keyword argument\s+{_Q}{_PARAM}{_E}",
        r"invalid\s+([a-z_]+)\s*:",
        rf"^\W*{_PARAM}\s*:\s*(?:extra|unknown|unsupported|unexpected|additional)",
        rf"{_Q}{_PARAM}{_E}[^\"'`]{{0,24}}(?:unsupported|not supported|not allowed|is unknown|not permitted|"
        rf"may only|does not support|is not|not support|was unexpected|deprecated)",
        rf"(?:not|n't) support(?:ed)?\s+(?:the\s+)?(?:parameter\s+|field\s+)?{_Q}?{_PARAM}{_E}?",
        rf"^{_PARAM}\s+(?:is|are)\s+(?:not|un)",
    )
)
RENAMED = re.compile(
    rf"(?:use|try|renamed? to|replaced (?:by|with)|"
    rf"in favou?r of)\s+(?:the\s+)?(?:param\w*\s+)?{_Q}{_PARAM}{_E}(?:\s+instead)?",
    re.IGNORECASE,
)
