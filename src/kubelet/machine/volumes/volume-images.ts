/** Image volumes of this machine: images are pulled through the container runtime, and its views of them are mounted. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { mountView, unmountUnder } from "../../../host/kernel/mounts.ts";
import type { ImageCredentials, ImageViews, Runtime } from "../../contracts/runtime.ts";
import { VolumeError } from "../../volumes/framework/volume-error.ts";
import type { VolumeImages } from "../../volumes/framework/volume-plugin.ts";

/** As upstream: files of an image are not executed. */
const OPTIONS = ["ro", "noexec"];

export interface VolumeImagesOptions {
  readonly runtime: Pick<Runtime, "imageStatus" | "pullImage" | "imageViews">;
  credentials(pod: Pod, image: string): Promise<readonly ImageCredentials[]>;
}

/** Undefined if the runtime has no views of images. */
export function volumeImages({ runtime, credentials }: VolumeImagesOptions): VolumeImages | undefined {
  const views: ImageViews | undefined = runtime.imageViews;
  if (views === undefined) return undefined;
  return {
    async ensure(pod, { reference = "", pullPolicy = "IfNotPresent" }, signal) {
      const present = pullPolicy === "Always" ? undefined : await runtime.imageStatus(reference);
      if (present !== undefined) return present.id;
      if (pullPolicy === "Never") throw new VolumeError(`image "${reference}" is not present with pull policy of Never`);
      return runtime.pullImage(reference, pod, { credentials: await credentials(pod, reference), signal });
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
