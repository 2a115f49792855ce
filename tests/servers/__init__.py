"""Real HTTP servers for tests."""
