"""Answers of an inference engine with the log-probability of each token, for `rl-advisor consistency`.

Run by yourself against a running server that speaks the OpenAI protocol (SGLang, vLLM):
python dump_engine.py http://HOST:PORT/v1 MODEL prompts.txt engine.jsonl
prompts.txt holds one prompt a line: a text, or a JSON list of chat messages, which the server puts through the model's chat template; a
picture is a part of a message, {"type": "image_url", "image_url": {"url": "https://... or data:image/png;base64,..."}}.
Greedy, so that a second engine can be compared token by token.
"""

import json
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen


def asked(prompt: str) -> tuple[str, dict[str, Any]]:
    """Where the server is asked, and with what."""
    if prompt.startswith("["):
        return "chat/completions", {"messages": json.loads(prompt), "logprobs": True}
    return "completions", {"prompt": prompt, "logprobs": 1}


def line(prompt: str, choice: dict[str, Any]) -> str:
    """One line of the dump from one choice of the server's answer."""
    if "message" in choice:
        text, logprobs = choice["message"]["content"], [token["logprob"] for token in choice["logprobs"]["content"]]
    else:
        text, logprobs = choice["text"], choice["logprobs"]["token_logprobs"]
    return json.dumps({"step": 0, "prompt": prompt, "response": text, "engine_logprobs": logprobs})


def main(server: str, model: str, prompts: str, out: str) -> None:
    """Ask for every prompt and write the dump."""
    with Path(prompts).open(encoding="utf-8") as lines, Path(out).open("w", encoding="utf-8") as dump:
        for prompt in filter(None, map(str.strip, lines)):
            where, body = asked(prompt)
            body |= {"model": model, "temperature": 0, "max_tokens": 256}
            request = Request(f"{server}/{where}", json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
            with urlopen(request, timeout=600) as answer:  # noqa: S310  the server is your own
                dump.write(line(prompt, json.load(answer)["choices"][0]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
