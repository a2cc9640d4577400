"""The drills there are."""

from __future__ import annotations

from pathlib import Path

from drills.current import current_models
from drills.disks import short_of_disk
from drills.drill import MODELS, Drill
from drills.flipping import FLIPS, flip_bytes
from drills.fuzzing import EXECUTIONS, fuzz
from drills.hostile import try_mutation
from drills.inputs import try_input
from drills.resuming import resume_from_damage
from drills.sanitizing import sanitize
from drills.saving import kill_a_save, no_room, replace_while_read, two_writers
from drills.serving import about_the_service, serve_and_kill
from drills.soaking import about_the_soak, soak
from drills.training import about_the_kills, any_threads, kill_a_training, kill_a_training_of_minilm

__all__ = ["DRILLS"]


def _hostile(place: Path, number: int) -> str:
    """Models as they are written now, and every third as the first version wrote them."""
    models = current_models() if number % 3 else tuple(sorted(path for path in MODELS.iterdir() if path.is_dir()))
    return try_mutation(models[number // 3 % len(models)], place, number)


_LIST = (
    Drill("fuzzing", "bytes that are led by coverage, for every reader and for the files of a model",
          "an answer or an error of ours; no crash, hang or gigabytes", fuzz, each=EXECUTIONS),
    Drill("hostile", "model folders with random damage, wrong values, pipes and smuggled code are loaded and asked",
          "an answer or a StoreError; no traceback, crash, hang or code executed", _hostile, batch=10_000),
    Drill("flipped", "every byte of the weight files of a model of every method is flipped, one after the other",
          "`treetop inspect --verify` names the file", flip_bytes, each=FLIPS),
    Drill("inputs", "damaged files of every form for every reader, odd options for every command",
          "an answer or one clear line; no traceback, crash or hang; memory up to 10 times the input and 200 MB",
          try_input, batch=50_000),
    Drill("killed-save", "SIGKILL at a file event of a save over another model, every method",
          "the old or the new model, every byte verified", kill_a_save),
    Drill("killed-training", "SIGKILL at random moments of a training, once to three times, then to its end",
          "the files of an uninterrupted run, nothing left behind", kill_a_training,
          facts=about_the_kills),
    Drill("killed-minilm", "the same of the four transformer methods, with a pretrained encoder",
          "the files of an uninterrupted run, nothing left behind", kill_a_training_of_minilm,
          facts=about_the_kills),
    Drill("resumed", "the checkpoint of a training that was cut off is damaged, and the training resumed",
          "it goes on, or says in one clear line what to remove", resume_from_damage),
    Drill("no-room", "a save where files may not grow beyond some size", "the old model, unchanged", no_room),
    Drill("disks", "commands and saves on disks that are full, take no more files, or may only be read",
          "one clear line or an answer; the old model whole, nothing half-written left", short_of_disk),
    Drill("writers", "three processes save to one place at once", "one of the three, every byte verified", two_writers),
    Drill("replaced", "eight threads ask a loaded model while others take its place",
          "every answer is that of the loaded model", replace_while_read),
    Drill("sanitizers", "the kernels' tests on kernels compiled for address and undefined behaviour, and for threads",
          "no report", sanitize),
    Drill("soak", "eight threads ask one model of every method, for hours; a round is five seconds",
          "every answer is right, and memory does not grow by 1 %", soak, facts=about_the_soak),
    Drill("serving", "three workers under load and feedback; in 90 seconds the model is replaced and a worker killed",
          "no request fails that a killed worker did not hold, no feedback is lost, memory stays", serve_and_kill,
          facts=about_the_service),
    Drill("threads", "linear trainings on 1, 2 and 5 threads", "the same files", any_threads),
)  # fmt: skip
DRILLS = {drill.name: drill for drill in _LIST}
