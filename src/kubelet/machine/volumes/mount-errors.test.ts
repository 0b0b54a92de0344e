import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { ImageVolumesError } from "../../contracts/pod-machine.ts";
import { NotAttachedError, StagingError, VolumeError, VolumeImageError } from "../../volumes/framework/volume-error.ts";
import { failedSetUp, limitError, mountError, reachedLimit } from "./mount-errors.ts";

test("a failure names the step of upstream: staging is MountDevice, everything else SetUp", () => {
  const why = new VolumeError("why");
  equal(failedSetUp("v", new StagingError(why)).message, 'MountVolume.MountDevice failed for volume "v" : why');
  equal(failedSetUp("v", why).message, 'MountVolume.SetUp failed for volume "v" : why');
});

test("a volume beyond the limit of the node rejects its Pod with upstream's reason and message", () => {
  const errors = [new VolumeError("other"), failedSetUp("pv", new NotAttachedError("no slot", { limitOf: "driver.example" }))];
  const { reason, message } = limitError(errors, [{ name: "b" }, { name: "a" }]);

  deepEqual([reachedLimit(errors), reachedLimit(errors.slice(0, 1))], ["driver.example", undefined]);
  equal(reason, "VolumeAttachmentLimitExceeded");
  equal(
    message,
    "Node has reached its volume attachment limit, rejecting pod. unmounted volumes=[a b], unattached volumes=[a b], failed to process volumes=[]: context deadline exceeded",
  );
});

test("missing images of volumes are reported together, after the failures of other volumes", () => {
  const problems = {
    a: { reason: "ErrImagePull", message: "no such image" },
    b: { reason: "ErrImageNeverPull", message: "not present" },
  } as const;
  const images = Object.entries(problems).map(([reference, problem]) => failedSetUp(reference, new VolumeImageError(reference, problem)));
  const other = failedSetUp("v", new VolumeError("why"));

  const error = mountError(images, []);

  ok(error instanceof ImageVolumesError);
  deepEqual(Object.fromEntries(error.problems), problems);
  equal(mountError([...images, other], []), other);
});
