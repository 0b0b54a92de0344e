/**
 * Images over the CRI. Several credentials are tried here in order; when and how often to pull is decided by the kubelet. During a pull
 * containerd reports progress (pull-progress.ts).
 */
import type { Clock } from "../../../base/clock.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";
import { RuntimeError, type Image, type ImageCredentials, type ImageFilesystem, type PullOptions } from "../../contracts/runtime.ts";
import { CriError, isNotFound, isUnavailable, type CriClient } from "./cri-client.ts";
import { imageFsInfo, imageStatus, listImages, pullImage, removeImage, type ImageMessage } from "./messages/image.ts";
import { withTag } from "../../shared/image-reference.ts";
import { followPull } from "./pull-progress.ts";

export class Images {
  readonly #client: CriClient;
  readonly #clock: Clock;

  constructor(client: CriClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async status(image: string, runtimeHandler = ""): Promise<Image | undefined> {
    const { image: found } = await this.#client.call(imageStatus, { image: { image, runtimeHandler } });
    return found === undefined ? undefined : imageOf(found);
  }

  async list(): Promise<readonly Image[]> {
    const { images } = await this.#client.call(listImages, {});
    return images.map(imageOf);
  }

  /** The first of several, as upstream. */
  async filesystem(): Promise<ImageFilesystem | undefined> {
    const { imageFilesystems } = await this.#client.call(imageFsInfo, {});
    const { id, usedBytes, inodesUsed } = imageFilesystems[0] ?? {};
    if (id === undefined || id.mountPoint === "") return undefined;
    const inodes = inodesUsed === undefined ? {} : { inodesUsed: Number(inodesUsed.value) };
    return { mountPoint: id.mountPoint, usedBytes: Number(usedBytes?.value ?? 0n), ...inodes };
  }

  async remove(image: string): Promise<void> {
    try {
      await this.#client.call(removeImage, { image: { image } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async pull(image: string, options: PullOptions): Promise<string> {
    const { credentials = [], signal, runtimeHandler = "" } = options;
    const spec = { image: withTag(image), userSpecifiedImage: image, runtimeHandler };
    const progress = followPull(this.#client, this.#clock, options);
    const failures: unknown[] = [];
    try {
      for (const auth of credentials.length === 0 ? [undefined] : credentials) {
        try {
          const { imageRef } = await this.#client.call(pullImage, { image: spec, auth: authOf(auth) }, { signal });
          return (await this.status(imageRef, runtimeHandler))?.id ?? imageRef;
        } catch (error) {
          failures.push(error);
          if (signal?.aborted === true || isUnavailable(error)) break;
        }
      }
    } finally {
      progress[Symbol.dispose]();
    }
    throw pullError(image, failures);
  }
}

function authOf(credentials: ImageCredentials | undefined): ImageCredentials | undefined {
  return credentials === undefined ? undefined : { ...credentials };
}

/** Prefixes by which a runtime distinguishes failures of a registry, and upstream's message for each. */
const REGISTRY_FAILURES = {
  RegistryUnavailable: "the registry is unavailable",
  SignatureValidationFailed: "the signature validation failed",
} as const;

function pullError(image: string, failures: readonly unknown[]): RuntimeError {
  const [first] = failures;
  if (failures.length === 1 && isUnavailable(first)) return first as RuntimeError;
  const message = messagesAsOne(failures);
  for (const [prefix, message] of Object.entries(REGISTRY_FAILURES)) {
    if (!(first instanceof CriError) || !first.details.startsWith(prefix)) continue;
    return new RuntimeError("ImagePull", `image pull failed for ${image} because ${message}${first.details.slice(prefix.length)}`, {
      cause: first,
    });
  }
  return new RuntimeError("ImagePull", message, { cause: first });
}

export function imageOf({ id, repoTags, repoDigests, size, uid, username, pinned }: ImageMessage): Image {
  const user = uid !== undefined ? { uid: uid.value } : username !== "" ? { name: username } : undefined;
  return {
    id,
    names: [...repoDigests, ...repoTags],
    sizeBytes: Number(size),
    ...(user === undefined ? {} : { user }),
    ...(pinned ? { isPinned: true } : {}),
  };
}

/** Aggregates several failures into one message, as upstream does: each text once, in brackets if there are several. */
export function messagesAsOne(failures: readonly unknown[]): string {
  return joinedErrors(failures.map((failure) => (failure instanceof Error ? failure.message : String(failure))));
}
