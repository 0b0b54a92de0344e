/**
 * Read-only views of images for image volumes, by containerd's snapshot service: containerd 1.6 cannot mount an image for the CRI, and from
 * 2.1 on the view is the same. A view is marked as a root of garbage collection, so it outlives its image and every restart until it is
 * removed.
 */
import { formatTime } from "../../../api/machinery/time.ts";
import type { Clock } from "../../../base/clock.ts";
import { RuntimeError, type ImageMount, type ImageViews } from "../../contracts/runtime.ts";
import { snapshotterAt } from "../../shared/snapshots.ts";
import { isAlreadyExists, isNotFound, type CriClient } from "./cri-client.ts";
import { mapOf } from "./messages/common.ts";
import { imageFsInfo, verboseImageStatus } from "./messages/image.ts";
import { removeSnapshot, snapshotMounts, viewSnapshot } from "./messages/snapshot.ts";

/** containerd namespace of the CRI's images. */
const NAMESPACE = { metadata: { "containerd-namespace": "k8s.io" } };
const GC_ROOT = "containerd.io/gc.root";

export class ContainerdImageViews implements ImageViews {
  readonly #client: CriClient;
  readonly #clock: Clock;

  constructor(client: CriClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async view(image: string, key: string): Promise<readonly ImageMount[]> {
    const [snapshotter, parent] = [await this.#snapshotter(), await this.#chainId(image)];
    const labels = [{ key: GC_ROOT, value: formatTime(this.#clock.now()) }];
    try {
      return (await this.#client.call(viewSnapshot, { snapshotter, key, parent, labels }, NAMESPACE)).mounts;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return (await this.#client.call(snapshotMounts, { snapshotter, key }, NAMESPACE)).mounts;
    }
  }

  async remove(key: string): Promise<void> {
    try {
      await this.#client.call(removeSnapshot, { snapshotter: await this.#snapshotter(), key }, NAMESPACE);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #chainId(image: string): Promise<string> {
    const { info } = await this.#client.call(verboseImageStatus, { image: { image }, verbose: true });
    const chainId = chainIdIn(mapOf(info).get("info"));
    if (chainId === undefined)
      throw new RuntimeError("CannotRun", `Cannot view the image ${image}: the runtime does not report its layers`);
    return chainId;
  }

  async #snapshotter(): Promise<string> {
    const { imageFilesystems } = await this.#client.call(imageFsInfo, {});
    const mountPoint = imageFilesystems[0]?.id?.mountPoint ?? "";
    const name = snapshotterAt(mountPoint);
    if (name === undefined)
      throw new RuntimeError("CannotRun", `Cannot view images: the runtime keeps them in "${mountPoint}", which names no snapshotter`);
    return name;
  }
}

export function chainIdIn(info: string | undefined): string | undefined {
  const { chainID } = JSON.parse(info ?? "{}") as { readonly chainID?: unknown };
  return typeof chainID === "string" && chainID !== "" ? chainID : undefined;
}
