import gc
import inspect
import re

pattern = re.compile(open("pattern", "rb").read())  # written so that it does not match itself
own = [open(name, "rb").read() for name in ("own.txt",)]
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        start, end, rights = re.match("([0-9a-f]+)-([0-9a-f]+) (....)", line).groups()
        if rights[0] != "r" or "[v" in line:
            continue
        for position in range(int(start, 16), int(end, 16), 1 << 20):
            try:
                memory.seek(position)
                found += len(pattern.findall(memory.read(min(1 << 20, int(end, 16) - position))))
            except (OSError, ValueError, OverflowError):
                break
texts = [value for value in gc.get_objects() if isinstance(value, (str, bytes))]
frames = repr([frame.frame.f_locals for frame in inspect.stack()])
found += sum(bool(pattern.search(text if isinstance(text, bytes) else text.encode())) for text in [*texts, frames])
submit(found)
