"""What trainers, tools and graders write when something went wrong: patterns of their words, each of one kind of trouble."""

import re

_I = re.IGNORECASE
_LIMIT = r"length|max \w+|\w+ limit|limit reached|truncat\w*|clipped|budget"
DOWN = re.compile(
    r"time[ds]?[ -]?out|(?:connect\w*|socket|network|session|upstream|gateway|proxy)\b[\w ]{0,20}?\b(?:error|refus|"
    r"reset|abort|fail|closed|lost|"
    r"unreachable)|(?:fail\w*|unable|could not|cannot|not) to (?:connect|reach|start|launch|spawn)|unreachable|"
    r"\b(?:sandbox|container|docker|kubernetes|pod|browser|worker|actor|env(?:ironment)?|server|vm|ray|"
    r"simulator)\b[\w .:]{0,30}?\b(?:error|"
    r"oom|kill|crash|die|dead|unavailable|fail|terminat|gone|evict|lost)|\b(?:429|50[0234])\b|service unavailable|bad gateway|"
    r"internal server error|rate limit|too many requests|no space left|out of memory|\boom\b|\beconn\w+|net::err|"
    r"\b(?:api|rpc) call failed|"
    r"\binfra\w*\b.{0,20}error|max retries exceeded|broken pipe|cuda error",
    _I,
)
MISUSE = re.compile(
    r"\b(?:missing|required|unexpected|invalid|unknown|unrecognized|unsupported|bad|malformed|"
    r"extra)\b\W{0,4}(?:\w+\W+){0,4}?(?:argument|param|"
    r"field|keyword|tool|function|command|action|json|schema|option|input|line number)|\bno such (?:tool|function|command|action)|"
    r"field required|validation error|\b(?:tool|function|command)\b.{0,60}?(?:not found|does not exist|"
    r"is not (?:defined|available|allowed))|"
    r"\btool (?:parse|call)\w* ?(?:error|fail)|decode tool call|\busage:|must be (?:an?|one of)\b|parameter.{0,40}not allowed",
    _I,
)
GRADER = re.compile(
    r"\b(?:grad(?:er|ing)|verif(?:ier|ying|ication)|judge|rubric|scor(?:er|ing)|compute score|evaluator|checker|"
    r"reward (?:fn|func\w*|server|"
    r"model|manager))\b(?=.{0,80}?(?:crash|error|exception|raise|fail|time ?out|unreachable|no score|none|invalid))",
    _I,
)
CONTEXT = re.compile(
    r"context (?:length|window|limit|size)|maximum context|prompt (?:is )?too long|input (?:is )?too long|exit context|"
    r"exceeds? (?:the )?context",
    _I,
)
CUT = re.compile(rf"\b(?:{_LIMIT})\b", _I)
FORM = re.compile(r"\b(?:format|unpars\w+|pars(?:e|ing) (?:error|fail)\w*|no (?:answer|box\w*) found|malformed)\b", _I)
LOOP = re.compile(r"\b(?:repetition|repetitive|loop\w*|stuck)\b", _I)
GAVE_UP = re.compile(
    r"\b(?:(?:i )?giv(?:e|ing) up|(?:not|un)\s?able to|could(?: not|n't) (?:find|locate|complete|solve)|cannot (?:find|complete|solve)|"
    r"nothing (?:more|else) i can|without an answer|i(?:'ll| will) stop|ending here)\b",
    _I,
)
RUNS_CODE = re.compile(r"python|code|exec|shell|bash|repl|run|terminal|interpreter|test", _I)
TIME_OUT = re.compile(r"time[ds]?[ -]?out", _I)
MACHINE = re.compile(r"sandbox|container|docker|connect|server|worker|http|network|gateway|session|browser|actor|pod", _I)
SHORT, LAST = 600, 300
"""Characters up to which a tool's answer can be an error and nothing else, and of the last words that are looked at."""
ENDINGS = re.compile(r"error|exception|fail|(?:^|_)(?:status|stop|finish|exit|abort|reason|termination|crash)(?:_|$)|_reason$", _I)
