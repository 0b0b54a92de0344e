/** Grows a volume while it is used, one step per pass. */
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import type { PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import { onChange, type Outcome, type Pass } from "../controllers/runtime/controller.ts";
import type { VolumeStorage } from "./local-volumes.ts";
import { resizeStep, type ResizeStep } from "./resize.ts";
import type { OwnVolume, VolumePass } from "./volume-pass.ts";
import { imageBytes } from "./volume-request.ts";

interface GrowingVolume extends OwnVolume {
  readonly storage: VolumeStorage["is"];
}

export async function grow({ volume, storage, claim }: GrowingVolume, context: VolumePass): Promise<Outcome> {
  const { pass } = context;
  const step = resizeStep(volume, claim, { storage, nowMs: pass.clock.now() });
  if (step.is === "none" || claim === undefined) return onChange;
  if (step.is === "report") return report(claim, step, pass);
  const { name } = volume.metadata;
  pass.events.record(claim, { type: "Normal", reason: "Resizing", message: `External resizer is resizing volume ${name}` });
  try {
    if (storage === "image") await pass.clock.external(context.volumes.grow(name, imageBytes(step.size)));
  } catch (error) {
    const message = `resize volume "${name}" failed: ${(error as Error).message}`;
    pass.events.record(claim, { type: "Warning", reason: "VolumeResizeFailed", message });
    throw error;
  }
  const next = await pass.write.patch(
    persistentVolumes,
    { name },
    { type: "merge", value: { spec: { capacity: { storage: step.size } } } },
  );
  return grow({ volume: next, storage, claim }, context);
}

async function report(claim: PersistentVolumeClaim, step: ResizeStep & { readonly is: "report" }, pass: Pass): Promise<Outcome> {
  await pass.write.updateStatus(persistentVolumeClaims, { ...claim, status: step.status });
  pass.events.record(
    claim,
    step.isComplete
      ? { type: "Normal", reason: "VolumeResizeSuccessful", message: "Resize volume succeeded" }
      : { type: "Normal", reason: "FileSystemResizeRequired", message: "Require file system resize of volume on node" },
  );
  return onChange;
}
