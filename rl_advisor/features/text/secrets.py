"""Keys of somebody's account inside a text, by the shapes that vendors give them and by the names they are assigned to."""

import re

MASK = "[secret removed]"
_SHAPES = re.compile(
    r"(?<![A-Za-z])(?:sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|xox[abeoprs]-[\w-]{10,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|wandb_v\d_[\w-]{16,}"
    r"|gsk_[A-Za-z0-9]{20,}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|do[opr]_v1_[a-f0-9]{32,}"
    r"|ya29\.[\w-]{20,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{20,}|nvapi-[\w-]{20,}|tskey-[a-z]+-[\w-]{16,}|lin_api_[A-Za-z0-9]{20,}"
    r"|(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{4,}+)"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
    r"|(?<=://)[^/\s:@]{0,200}:[^/\s@]{1,200}(?=@)|(?<=hooks\.slack\.com/services/)[\w/]{20,}"
    r"|(?i:(?<=bearer )[\w.~+/-]{12,}=*)"
    r"|(?i:(?<=api_key=)|(?<=apikey=)|(?<=password=)|(?<=_token=)|(?<=secret=))[^\s,;&'\"]{6,}"
)
_ASSIGNED = re.compile(
    r"(?i)((?:api|access|secret|private|account|auth|encryption)[_-]?key|(?<![a-z])token|_token|secret|passw(?:or)?d)([\"']?\s{0,3}[:=]\s{0,3}[\"']?)"
    r"(?=[\w+/=.~-]{0,200}\d)(?=[\w+/=.~-]{0,200}[a-z])[\w+/=.~-]{12,200}+(?![\w(\[])"
)
"""A name of a secret, and a long value of letters and digits; a call or an index after it makes it an expression of code."""


def masked(text: str) -> str:
    """The text with everything that looks like a key replaced; hashes, identifiers and encoded bytes without a secret's name stay."""
    return _ASSIGNED.sub(rf"\1\2{MASK}", _SHAPES.sub(MASK, text))
