"""What both benchmarks share: settings, the lake, the registry of models, the language-model client, the sandbox.

Nothing here knows a benchmark.
"""
