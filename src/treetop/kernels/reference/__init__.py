"""Every kernel once more in plain numpy: slow, obvious, and the oracle of the kernel's tests."""
