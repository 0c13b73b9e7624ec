"""What a command may use, network included; it moves scores, so it is recorded."""

from typing import Literal

from pydantic import PositiveInt

from nanobench.model.base import Document

AgentNetwork = Literal["provider-only", "host"]
VerifyNetwork = Literal["none", "host"]
LimitedBy = Literal["cgroup", "rlimit", "watch", "none"]


class ResourceLimits(Document):
    """How much a command may use, and what holds it to that.

    `cgroup`: the kernel, for the whole tree. `rlimit`: the kernel; memory for each process
    alone, processes for all of the user's. `watch`: looked at twice a second. `none`: nothing.
    """

    processes: PositiveInt
    processes_by: LimitedBy
    memory_bytes: PositiveInt
    memory_by: LimitedBy
    cpus: PositiveInt
    cpus_by: LimitedBy
    disk_bytes: PositiveInt
    disk_by: LimitedBy
