/**
 * Builds an image as a tar from layers of files: an OCI layout (index.json, blobs/) that `docker load` reads as well (manifest.json).
 * Reproducible: the same layers result in the same digest. Layers are not compressed: these images are small and local.
 */
import { sha256 } from "../../../host/crypto/hash.ts";
import { writeTar, type TarEntry } from "../../../host/archive/tar-writer.ts";

export interface ImageDescription {
  /** With its tag: "k8ts.local/pause:1". */
  readonly name: string;
  /** OCI architecture: "amd64", "arm64". */
  readonly architecture: string;
  /** Each is a list of entries, parents before children. */
  readonly layers: readonly (readonly TarEntry[])[];
  readonly config: ImageConfig;
}

/** Defaults of its containers; the names are OCI's. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Env?: readonly string[];
  readonly User?: string;
  readonly WorkingDir?: string;
  readonly StopSignal?: string;
  readonly Labels?: Readonly<Record<string, string>>;
}

export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
export const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
export const OCI_CONFIG = "application/vnd.oci.image.config.v1+json";
export const OCI_LAYER = "application/vnd.oci.image.layer.v1.tar";

interface Blob {
  /** "sha256:…" */
  readonly digest: string;
  readonly bytes: Uint8Array;
}

export function buildImage({ name, architecture, layers, config }: ImageDescription): Uint8Array {
  const layerBlobs = layers.map((entries) => blobOf(writeTar(entries)));
  const configBlob = jsonBlob({
    architecture,
    os: "linux",
    config,
    rootfs: { type: "layers", diff_ids: layerBlobs.map(({ digest }) => digest) },
  });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: descriptor(OCI_CONFIG, configBlob),
    layers: layerBlobs.map((layer) => descriptor(OCI_LAYER, layer)),
  });
  const index = {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [
      {
        ...descriptor(OCI_MANIFEST, manifest),
        platform: { architecture, os: "linux" },
        annotations: { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": tagOf(name) },
      },
    ],
  };
  const docker = [{ Config: blobPath(configBlob), RepoTags: [name], Layers: layerBlobs.map(blobPath) }];
  return writeTar([
    json("oci-layout", { imageLayoutVersion: "1.0.0" }),
    json("index.json", index),
    json("manifest.json", docker),
    { is: "directory", path: "blobs" },
    { is: "directory", path: "blobs/sha256" },
    ...[manifest, configBlob, ...layerBlobs].map((blob): TarEntry => ({ is: "file", path: blobPath(blob), content: blob.bytes })),
  ]);
}

function descriptor(mediaType: string, { digest, bytes }: Blob) {
  return { mediaType, digest, size: bytes.length };
}

function blobPath({ digest }: Blob): string {
  return `blobs/${digest.replace(":", "/")}`;
}

function blobOf(bytes: Uint8Array): Blob {
  return { digest: digestOf(bytes), bytes };
}

function jsonBlob(value: unknown): Blob {
  return blobOf(new TextEncoder().encode(JSON.stringify(value)));
}

function json(path: string, value: unknown): TarEntry {
  return { is: "file", path, content: new TextEncoder().encode(JSON.stringify(value)) };
}

export function digestOf(bytes: Uint8Array): string {
  const hash = sha256();
  hash.update(bytes);
  return `sha256:${hexOf(hash.digest())}`;
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** "1" of "k8ts.local/pause:1". */
function tagOf(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}
