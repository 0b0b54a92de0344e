/** CRI messages of images (runtime.v1.ImageService), limited to the fields this driver uses; see common.ts. */
import type { Decoded, MessageDescriptor } from "../../../../base/protobuf/messages.ts";
import { entry, nothing } from "../../../../base/protobuf/shared-messages.ts";
import { imageSpec, int64Value, TIMEOUTS_MS, uint64Value, type CriMethod } from "./common.ts";

const SERVICE = "/runtime.v1.ImageService";

const imageMessage = {
  name: "Image",
  fields: {
    id: { number: 1, type: "string" },
    repoTags: { number: 2, type: "string", repeated: true },
    repoDigests: { number: 3, type: "string", repeated: true },
    size: { number: 4, type: "uint64" },
    uid: { number: 5, type: int64Value },
    username: { number: 6, type: "string" },
    pinned: { number: 8, type: "bool" },
  },
} as const satisfies MessageDescriptor;
export type ImageMessage = Decoded<typeof imageMessage>;

const imageRequest = { name: "ImageRequest", fields: { image: { number: 1, type: imageSpec } } } as const satisfies MessageDescriptor;

export const listImages = {
  path: `${SERVICE}/ListImages`,
  request: nothing,
  response: { name: "ListImagesResponse", fields: { images: { number: 1, type: imageMessage, repeated: true } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

export const imageStatus = {
  path: `${SERVICE}/ImageStatus`,
  request: imageRequest,
  response: { name: "ImageStatusResponse", fields: { image: { number: 1, type: imageMessage } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

/** The same with details: containerd's hold the digest of the unpacked layers. */
export const verboseImageStatus = {
  path: `${SERVICE}/ImageStatus`,
  request: { name: "ImageStatusRequest", fields: { ...imageRequest.fields, verbose: { number: 2, type: "bool" } } },
  response: {
    name: "ImageStatusResponse",
    fields: { image: { number: 1, type: imageMessage }, info: { number: 2, type: entry, repeated: true } },
  },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

const filesystemUsage = {
  name: "FilesystemUsage",
  fields: {
    id: { number: 2, type: { name: "FilesystemIdentifier", fields: { mountPoint: { number: 1, type: "string" } } } },
    usedBytes: { number: 3, type: uint64Value },
    inodesUsed: { number: 4, type: uint64Value },
  },
} as const satisfies MessageDescriptor;

export const imageFsInfo = {
  path: `${SERVICE}/ImageFsInfo`,
  request: nothing,
  response: { name: "ImageFsInfoResponse", fields: { imageFilesystems: { number: 1, type: filesystemUsage, repeated: true } } },
  timeoutMs: TIMEOUTS_MS.look,
} as const satisfies CriMethod;

const authConfig = {
  name: "AuthConfig",
  fields: {
    username: { number: 1, type: "string" },
    password: { number: 2, type: "string" },
    auth: { number: 3, type: "string" },
    serverAddress: { number: 4, type: "string" },
    identityToken: { number: 5, type: "string" },
    registryToken: { number: 6, type: "string" },
  },
} as const satisfies MessageDescriptor;

export const pullImage = {
  path: `${SERVICE}/PullImage`,
  request: { name: "PullImageRequest", fields: { image: { number: 1, type: imageSpec }, auth: { number: 2, type: authConfig } } },
  response: { name: "PullImageResponse", fields: { imageRef: { number: 1, type: "string" } } },
  timeoutMs: TIMEOUTS_MS.pull,
} as const satisfies CriMethod;

export const removeImage = {
  path: `${SERVICE}/RemoveImage`,
  request: imageRequest,
  response: nothing,
  timeoutMs: TIMEOUTS_MS.change,
} as const satisfies CriMethod;
