/** Grows a volume while it is used, one step per pass. */
import { persistentVolumeClaims } from "../api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../api/core/v1/persistent-volume.ts";
import type { PersistentVolumeClaim } from "../api/generated/core/v1.ts";
import { after, onChange, type Outcome, type Pass } from "../controllers/runtime/controller.ts";
import { LOCAL_PATH_PROVISIONER } from "../api/local-path.ts";
import { failedResizeStatus, resizingStatus } from "../api/core/v1/persistent-volume-claim/resize-status.ts";
import { RefusedVolumeError, type VolumeStorage } from "./local-volumes.ts";
import { REFUSED_RETRY_MS, resizeStep, type ResizeStep } from "./resize.ts";
import type { OwnVolume, VolumePass } from "./volume-pass.ts";
import { imageBytes } from "./volume-request.ts";

interface GrowingVolume extends OwnVolume {
  readonly storage: VolumeStorage["is"];
}

export async function grow({ volume, storage, claim }: GrowingVolume, context: VolumePass): Promise<Outcome> {
  const { pass } = context;
  const step = resizeStep(volume, claim, { storage, nowMs: pass.clock.now() });
  if (step.is === "none" || claim === undefined) return onChange;
  if (step.is === "wait") return after(step.delayMs);
  if (step.is === "report") return report(claim, step, pass);
  const { name } = volume.metadata;
  pass.events.record(claim, { type: "Normal", reason: "Resizing", message: `External resizer is resizing volume ${name}` });
  try {
    if (storage === "image") await pass.clock.external(context.volumes.grow(name, imageBytes(step.size)));
  } catch (error) {
    return reportFailure(claim, { volumeName: name, size: step.size, error: error as Error }, pass);
  }
  const next = await pass.write.patch(
    persistentVolumes,
    { name },
    { type: "merge", value: { spec: { capacity: { storage: step.size } } } },
  );
  return grow({ volume: next, storage, claim }, context);
}

interface Failure {
  readonly volumeName: string;
  readonly size: string;
  readonly error: Error;
}

async function reportFailure(claim: PersistentVolumeClaim, { volumeName, size, error }: Failure, pass: Pass): Promise<Outcome> {
  const nowMs = pass.clock.now();
  const isInfeasible = error instanceof RefusedVolumeError;
  const status = failedResizeStatus(resizingStatus(claim.status ?? {}, size, nowMs), { message: error.message, isInfeasible }, nowMs);
  await pass.write.updateStatus(persistentVolumeClaims, { ...claim, status });
  const message = `resize volume "${volumeName}" by resizer "${LOCAL_PATH_PROVISIONER}" failed: ${error.message}`;
  pass.events.record(claim, { type: "Warning", reason: "VolumeResizeFailed", message });
  if (!isInfeasible) throw error;
  return after(REFUSED_RETRY_MS);
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
