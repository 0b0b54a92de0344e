/**
 * Removes unused images of the node: periodically, by the policy, and on demand when the node is under disk pressure. The kubelet observes
 * from its start which images containers use. Not here: the rules (image-gc.ts).
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import type { Image, Runtime } from "../contracts/runtime.ts";
import {
  bytesToFree,
  isTooOld,
  isTooYoung,
  notFreedMessage,
  removableImages,
  seenImages,
  type DiskFill,
  type ImageGcPolicy,
  type ImageRecords,
  type ImageView,
} from "./image-gc.ts";

export interface ImageCollectorOptions {
  readonly policy: ImageGcPolicy;
  readonly runtime: Pick<Runtime, "images" | "removeImage" | "usedImages" | "imageStatus">;
  /** Images that are in use although no container has them: that of sandboxes, those of Pods that are about to start. */
  needed(): readonly string[];
  /** The image file system; undefined: not known. */
  disk(): Promise<DiskFill | undefined>;
  /** Records an Event about the Node. */
  record(event: RecordedEvent): void;
  /** The list of images changed. */
  onRemoved(): void;
  readonly metrics?: { imageCollected(reason: "age" | "space"): void };
  readonly clock: Clock;
  readonly log: Logger;
}

export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  readonly #startedMs: number;
  #records: ImageRecords = new Map();

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
  }

  /** Notes which images exist and which are used. From the start and periodically: an image that was not found before is too young. */
  async observe(): Promise<void> {
    await this.#observe();
  }

  /** One collection by the policy. */
  async collect(): Promise<void> {
    const { policy, disk, record, log } = this.#options;
    const view = await this.#observe();
    const times = { nowMs: view.nowMs, startedMs: this.#startedMs };
    const removable = removableImages(this.#records, view);
    const old = removable.filter((image) => isTooOld(image, this.#records, policy, times));
    for (const image of old) await this.#remove(image, "age");
    const fill = await disk();
    if (fill === undefined) return;
    if (fill.capacityBytes === 0)
      return record({ type: "Warning", reason: "InvalidDiskCapacity", message: "invalid capacity 0 on image filesystem" });
    const wantedBytes = bytesToFree(fill, policy);
    if (wantedBytes === 0) return;
    log.info("The image file system is fuller than the limit: removing unused images", { wantedBytes });
    const freedBytes = await this.#free(
      wantedBytes,
      removable.filter((image) => !old.includes(image)),
      view.nowMs,
    );
    if (freedBytes < wantedBytes) record({ type: "Warning", reason: "FreeDiskSpaceFailed", message: notFreedMessage(fill, freedBytes) });
  }

  /** Removes all unused images that are old enough. */
  async removeUnused(): Promise<void> {
    const view = await this.#observe();
    await this.#free(Number.POSITIVE_INFINITY, removableImages(this.#records, view), view.nowMs);
  }

  async #observe(): Promise<ImageView> {
    const { runtime, needed, clock } = this.#options;
    const images = await runtime.images();
    const refs = await Promise.all(needed().map(async (name) => [name, (await runtime.imageStatus(name))?.id ?? name]));
    const used = new Set([...((await runtime.usedImages?.()) ?? []), ...refs.flat()]);
    const view = { images, used, nowMs: clock.now() };
    this.#records = seenImages(this.#records, view);
    return view;
  }

  /** Resolves with the sum of the sizes of removed images. */
  async #free(wantedBytes: number, images: readonly Image[], nowMs: number): Promise<number> {
    let freedBytes = 0;
    for (const image of images) {
      if (freedBytes >= wantedBytes) break;
      if (isTooYoung(image, this.#records, this.#options.policy, nowMs)) continue;
      if (await this.#remove(image, "space")) freedBytes += image.sizeBytes;
    }
    return freedBytes;
  }

  async #remove({ id, names, sizeBytes }: Image, reason: "age" | "space"): Promise<boolean> {
    const { runtime, metrics, onRemoved, log } = this.#options;
    try {
      log.info("Removing an unused image", { image: names[0] ?? id, sizeBytes, reason });
      await runtime.removeImage(id);
      metrics?.imageCollected(reason);
      onRemoved();
      return true;
    } catch (error) {
      log.warn("Cannot remove an unused image", { image: names[0] ?? id, error });
      return false;
    }
  }
}
