"""`ISOGRID_EXPLAIN=1`: a line on standard error for each kernel, target and decision of the compiler, at first use.

isogrid: gather on cpu: proved 2 checks, kept 1: index of `x`, line 17
isogrid: gather on cpu: explicit vectors: 16 lanes at a time
"""

from collections.abc import Iterator
from typing import Any, cast

from isogrid.ir import kernel as k
from isogrid.ir.traps import TrapSite
from isogrid.launch.backends import load_compiler, runtime
from isogrid.launch.options import Options
from isogrid.support.tell import tell


def explain_artifact(name: str, device: str, program: k.Kernel, artifact: Any, options: Options) -> None:
    """Print what was decided for an artifact; it may come from the cache, which keeps no decisions."""
    whole = artifact.kernel() if hasattr(artifact, "kernel") and hasattr(artifact, "head") else program
    for line in _decisions(whole, device, options):
        tell(f"{name} on {device}: {line}")


def _decisions(program: k.Kernel, device: str, options: Options) -> Iterator[str]:
    load_compiler(device)
    running: Any = runtime(device)
    settings = options.values()
    for key, value in settings.items():
        yield f"option {key}={sorted(cast(frozenset[str], value)) if isinstance(value, frozenset) else value!r}"
    if not program.deterministic:
        yield "deterministic=False: one of the results that some order gives"
    if program.races != "prove":
        yield f"races={program.races}: nothing is derived from race freedom"
    if not hasattr(running, "decisions"):
        yield "runs as written, every check kept"
        return
    yield from _optimised(program, settings)
    yield from running.decisions(program, settings)


def _optimised(program: k.Kernel, settings: dict[str, Any]) -> Iterator[str]:
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.pipeline import PASSES, PassContext, lower

    facts = LaunchFacts(small=True)
    written = lower(program, facts).sites
    context, changed, current = PassContext(facts, settings), dict[str, None](), program
    for name, run in PASSES:
        if name not in settings.get("disable", ()):
            after = run(current, context)
            if after != current:
                changed[name] = None
            current = after
    yield f"passes that changed it: {', '.join(changed) or 'none'}"
    kept = lower(current, facts).sites
    if not written:
        yield "nothing in it can trap"
    elif not kept:
        yield f"proved {len(written)} checks, kept none"
    else:
        yield f"proved {max(0, len(written) - len(kept))} checks, kept {len(kept)}: {'; '.join(map(_site_text, kept))}"


def _site_text(site: TrapSite) -> str:
    return f"{site.kind.value} of `{site.subject}`, line {site.span.line}"
