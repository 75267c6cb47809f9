"""Answers of an inference engine with the log-probability of each token, for `rl-advisor consistency`.

Run by yourself against a running server that speaks the OpenAI protocol (SGLang, vLLM):
python dump_engine.py http://HOST:PORT/v1 MODEL prompts.txt engine.jsonl
prompts.txt holds one prompt a line. Greedy, so that a second engine can be compared token by token.
"""

import json
import sys
from pathlib import Path
from urllib.request import Request, urlopen


def line(prompt: str, choice: dict) -> str:
    """One line of the dump from one choice of the server's answer."""
    logprobs = choice["logprobs"]["token_logprobs"]
    return json.dumps({"step": 0, "prompt": prompt, "response": choice["text"], "engine_logprobs": logprobs})


def main(server: str, model: str, prompts: str, out: str) -> None:
    """Ask for every prompt and write the dump."""
    with Path(prompts).open(encoding="utf-8") as asked, Path(out).open("w", encoding="utf-8") as dump:
        for prompt in filter(None, map(str.strip, asked)):
            body = {"model": model, "prompt": prompt, "temperature": 0, "max_tokens": 256, "logprobs": 1}
            request = Request(f"{server}/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
            with urlopen(request, timeout=600) as answer:  # noqa: S310  the server is your own
                dump.write(line(prompt, json.load(answer)["choices"][0]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
