"""Functions that note what goes wrong: a trap with operands, the first thread or group that trapped, a wrapped sum."""

from typing import Final

from isogrid.printers.c_family_spelling import Spelling

ALL: Final = "~(u64)0"


def trap_function(spelling: Spelling, count: int) -> tuple[str, str]:
    """Records a trap if it comes before what is recorded. The lock is given back before lanes meet again."""
    name = f"trap_{count}"
    space = spelling.spaces["global"]
    values = "".join(f", u64 operand_{n}" for n in range(count))
    stores = "".join(f"\n                record[{4 + n}] = operand_{n};" for n in range(count))
    words = {
        "take": spelling.atomics["cas_u64"].format(p=f"({space}u64*)&record[2]", e=ALL, v="0", s=space),
        "give": spelling.atomics["exchange_u64"].format(p=f"({space}u64*)&record[2]", v=ALL, s=space),
    }
    text = f"""
// Records a trap, unless one that comes before it in the order of the launch is there.
{spelling.cold}void {name}(volatile {space}u64* record, u64 key, u64 site{values}) {{
    bool waits = true;
    while (waits && key < record[0]) {{
        if ({words["take"]} == {ALL}) {{
            {spelling.warps["fence"]}
            if (key < record[0]) {{
                record[1] = site;{stores}
                record[0] = key;
            }}
            {spelling.warps["fence"]}
            {words["give"]};
            waits = false;
        }}
    }}
}}"""
    return name, text


def mark_function(spelling: Spelling) -> tuple[str, str]:
    """Notes the first thread or group that traps; who it was and why is found by running it again elsewhere."""
    type, space = spelling.key_type, spelling.spaces["global"]
    suffix = "u64" if type == "u64" else "u32"
    update = spelling.atomics[f"min_{suffix}"].format(p="record", v="key", s=space)
    text = f"""
// Notes the first thread, or the first group, that trapped.
{spelling.cold}void trap(volatile {space}{type}* record, {type} key) {{
    {update};
}}"""
    return "trap", text


def wrapped_function(spelling: Spelling) -> tuple[str, str]:
    type, space = spelling.key_type, spelling.spaces["global"]
    suffix = "u64" if type == "u64" else "u32"
    add = spelling.atomics[f"add_{suffix}"]
    count = add.format(p=f"({space}{type}*)&watch[0]", v="1", s=space)
    change = f"(event & 1) != 0 ? ~({type})0 : 1"
    place = f"({space}{type}*)&watch[watch[2 + (event >> 1)] + element]"
    dense = f"({type})1 << {63 if type == 'u64' else 31}"
    text = f"""
// Notes that a sum left its type: the array and direction, and the element. Where the room is the top bit, every
// element has a count; else events are listed.
{spelling.cold}void wrapped(volatile {space}{type}* watch, {type} event, {type} element) {{
    const {type} number = {count};
    if (watch[1] == {dense}) {{
        {add.format(p=place, v=change, s=space)};
    }} else if (number < watch[1]) {{
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }}
}}"""
    return "wrapped", text
