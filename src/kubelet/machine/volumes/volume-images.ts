/** Image volumes of this machine: images are pulled through the container runtime, and its views of them are mounted. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Clock } from "../../../base/clock.ts";
import { mountView, unmountUnder } from "../../../host/kernel/mounts.ts";
import type { ImageCredentials, ImageViews, Runtime } from "../../contracts/runtime.ts";
import type { RecordedEvent } from "../../../client/events/event-recorder.ts";
import { invalidName } from "../../shared/image-reference.ts";
import { formatDuration, messageOf } from "../../pod/pod-events.ts";
import { VolumeImageError } from "../../volumes/framework/volume-error.ts";
import type { VolumeImages } from "../../volumes/framework/volume-plugin.ts";

/** As upstream: files of an image are not executed. */
const OPTIONS = ["ro", "noexec"];

export interface VolumeImagesOptions {
  readonly runtime: Pick<Runtime, "imageStatus" | "pullImage" | "imageViews">;
  credentials(pod: Pod, image: string): Promise<readonly ImageCredentials[]>;
  record(pod: Pod, event: RecordedEvent): void;
  readonly clock: Clock;
}

/** Undefined if the runtime has no views of images. */
export function volumeImages({ runtime, credentials, record, clock }: VolumeImagesOptions): VolumeImages | undefined {
  const views: ImageViews | undefined = runtime.imageViews;
  if (views === undefined) return undefined;
  return {
    async ensure(pod, { reference = "", pullPolicy = "IfNotPresent" }, signal) {
      const invalid = invalidName(reference);
      if (invalid !== undefined) throw new VolumeImageError(reference, { reason: "InvalidImageName", message: invalid });
      const present = pullPolicy === "Always" ? undefined : await runtime.imageStatus(reference);
      if (present !== undefined) {
        const message = `Container image "${reference}" already present on machine and can be accessed by the pod`;
        record(pod, { type: "Normal", reason: "Pulled", message });
        return present.id;
      }
      if (pullPolicy === "Never") {
        const message = `Container image "${reference}" is not present with pull policy of Never`;
        throw new VolumeImageError(reference, { reason: "ErrImageNeverPull", message });
      }
      record(pod, { type: "Normal", reason: "Pulling", message: `Pulling image "${reference}"` });
      const begunAtMs = clock.monotonic();
      try {
        const id = await runtime.pullImage(reference, pod, { credentials: await credentials(pod, reference), signal });
        const took = formatDuration(clock.monotonic() - begunAtMs);
        const sizeBytes = (await runtime.imageStatus(reference))?.sizeBytes ?? 0;
        const message = `Successfully pulled image "${reference}" in ${took} (${took} including waiting). Image size: ${sizeBytes} bytes.`;
        record(pod, { type: "Normal", reason: "Pulled", message });
        return id;
      } catch (error) {
        if (signal.aborted) throw error;
        throw new VolumeImageError(reference, { reason: "ErrImagePull", message: messageOf(error) }, { cause: error });
      }
    },
    async mount(imageId, { key, path }) {
      for (const mount of await views.view(imageId, key)) await mountView(mount, path, OPTIONS);
    },
    async unmount({ key, path }) {
      await unmountUnder(path);
      await views.remove(key);
    },
  };
}
