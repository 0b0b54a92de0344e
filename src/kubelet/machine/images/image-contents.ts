/**
 * Lists the images in a tar once its blobs are known: from the index of an OCI layout, or from the manifest.json of `docker save`, for
 * which the OCI manifest is built here. Pure.
 */
import type { Compression } from "./compression.ts";
import type { Descriptor } from "./content-store.ts";
import { wholeImageName } from "./image-name.ts";
import { OCI_CONFIG, OCI_LAYER, OCI_MANIFEST } from "./oci-image.ts";

export class NotAnImageError extends Error {
  override readonly name = "NotAnImageError";
}

/** What was found while reading the tar. */
export interface TarContents {
  /** Small files, which may be JSON documents, by path, with links resolved. */
  text(path: string): string | undefined;
  /** Blobs written to the runtime, by path of the file. */
  blob(path: string): BlobFacts | undefined;
}

export interface BlobFacts {
  readonly digest: string;
  readonly size: number;
  readonly compression: Compression | undefined;
  /** Digest of the decompressed content, equal to its own if not compressed. Undefined: it cannot be decompressed here, or is corrupt. */
  readonly unpacked: string | undefined;
}

export interface FoundImage {
  /** Full names; none if the tar does not contain any. */
  readonly names: readonly string[];
  readonly manifest: ManifestSource;
  /** Digest of the multi-platform index from which this manifest was selected: the image may be referenced by it, too. */
  readonly listDigest?: string;
  readonly config: string;
  readonly layers: readonly FoundLayer[];
}

export interface FoundLayer extends Descriptor {
  /** Digest of its decompressed content, by which the config lists it. */
  readonly diffId: string;
}

/** The manifest is in the tar, or is to be written. */
export type ManifestSource = { readonly is: "present"; readonly target: Descriptor } | { readonly is: "new"; readonly text: string };

interface OciDescriptor extends Descriptor {
  readonly platform?: { readonly architecture?: string; readonly os?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface OciDocument {
  readonly mediaType?: string;
  readonly manifests?: readonly OciDescriptor[];
  readonly config?: Descriptor;
  readonly layers?: readonly Descriptor[];
}

interface DockerImage {
  readonly Config: string;
  readonly RepoTags?: readonly string[] | null;
  readonly Layers: readonly string[];
}

/** `architecture`: of the machine, as OCI names it; selects the manifest of a multi-platform image. */
export function imagesIn(contents: TarContents, { architecture }: { readonly architecture: string }): readonly FoundImage[] {
  const index = parsed<OciDocument>(contents.text("index.json"));
  const docker = parsed<readonly DockerImage[]>(contents.text("manifest.json")) ?? [];
  if (index?.manifests !== undefined) return index.manifests.flatMap((one) => ociImage(one, { contents, docker, architecture }));
  if (docker.length === 0) throw new NotAnImageError("Cannot find an image in the tar: it has neither an index.json nor a manifest.json");
  return docker.map((one) => dockerImage(one, contents));
}

interface Found {
  readonly contents: TarContents;
  readonly docker: readonly DockerImage[];
  readonly architecture: string;
}

function ociImage(descriptor: OciDescriptor, found: Found): readonly FoundImage[] {
  const target = forArchitecture(descriptor, found);
  const manifest = documentAt(target, found.contents);
  if (manifest?.config === undefined || manifest.layers === undefined) {
    throw new NotAnImageError(`Cannot use the image in the tar: its manifest ${target.digest} is missing or invalid`);
  }
  const { config, layers } = manifest;
  const layerPaths = layers.map(({ digest }) => blobPath(digest));
  const missing = [config, ...layers].find(({ digest }) => found.contents.blob(blobPath(digest)) === undefined);
  if (missing !== undefined) throw new NotAnImageError(`Cannot use the image in the tar: its blob ${missing.digest} is missing`);
  const diffIds = checkedDiffIds(blobPath(config.digest), layerPaths, found.contents);
  return [
    {
      names: namesOf(descriptor, config.digest, found.docker),
      manifest: { is: "present", target: { mediaType: target.mediaType, digest: target.digest, size: target.size } },
      ...(target.digest === descriptor.digest ? {} : { listDigest: descriptor.digest }),
      config: config.digest,
      layers: foundLayers(layers, diffIds),
    },
  ];
}

/** Resolves a multi-platform index to one manifest. */
function forArchitecture(descriptor: OciDescriptor, found: Found): OciDescriptor {
  const document = documentAt(descriptor, found.contents);
  if (document?.manifests === undefined) return descriptor;
  const fitting = document.manifests.find(({ platform }) => platform?.os === "linux" && platform.architecture === found.architecture);
  if (fitting !== undefined) return forArchitecture(fitting, found);
  const has = document.manifests.map(({ platform }) => platform?.architecture ?? "unknown").join(", ");
  throw new NotAnImageError(`Cannot use the image in the tar: it is for ${has || "no processor"}, this machine is ${found.architecture}`);
}

/** Names of an OCI layout: its annotations; where those have only a tag, or nothing, those of `docker save`'s manifest.json. */
function namesOf({ annotations = {} }: OciDescriptor, config: string, docker: readonly DockerImage[]): readonly string[] {
  const name = annotations["io.containerd.image.name"] ?? annotations["org.opencontainers.image.ref.name"];
  if (name !== undefined && /[/:]/.test(name)) return [wholeImageName(name)];
  const beside = docker.find(({ Config }) => Config.includes(config.replace(/^sha256:/, "")));
  return (beside?.RepoTags ?? []).map(wholeImageName);
}

function dockerImage({ Config, Layers, RepoTags }: DockerImage, contents: TarContents): FoundImage {
  const descriptorOf = (path: string, mediaType: string): Descriptor => {
    const blob = contents.blob(path);
    if (blob === undefined) throw new NotAnImageError(`Cannot use the image in the tar: its file "${path}" is missing`);
    return {
      mediaType: blob.compression === undefined ? mediaType : `${mediaType}+${blob.compression}`,
      digest: blob.digest,
      size: blob.size,
    };
  };
  const config = descriptorOf(Config, OCI_CONFIG);
  const layers = Layers.map((path) => descriptorOf(path, OCI_LAYER));
  const diffIds = checkedDiffIds(Config, Layers, contents);
  const text = JSON.stringify({ schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers });
  const names = (RepoTags ?? []).map(wholeImageName);
  return { names, manifest: { is: "new", text }, config: config.digest, layers: foundLayers(layers, diffIds) };
}

function foundLayers(layers: readonly Descriptor[], diffIds: readonly string[]): readonly FoundLayer[] {
  return layers.map(({ mediaType, digest, size }, index) => ({ mediaType, digest, size, diffId: diffIds[index] ?? "" }));
}

interface ImageConfigDocument {
  readonly rootfs?: { readonly diff_ids?: readonly string[] };
}

/**
 * The config lists the diff ids of the layers. Runtimes verify them only when the first Pod starts, so they are verified here. A zstd layer
 * cannot be; the digest in its name, which the runtime verifies, must do.
 */
function checkedDiffIds(configPath: string, layerPaths: readonly string[], contents: TarContents): readonly string[] {
  const wanted = parsed<ImageConfigDocument>(contents.text(configPath))?.rootfs?.diff_ids;
  if (wanted === undefined)
    throw new NotAnImageError(`Cannot use the image in the tar: its config "${configPath}" does not list its layers`);
  if (wanted.length !== layerPaths.length) {
    throw new NotAnImageError(
      `Cannot use the image in the tar: it has ${layerPaths.length} layers, but its config "${configPath}" lists ${wanted.length}`,
    );
  }
  for (const [index, path] of layerPaths.entries()) {
    const blob = contents.blob(path);
    const isVouchedFor = blob?.compression === "zstd" && path.startsWith("blobs/");
    if (isVouchedFor || blob?.unpacked === wanted[index]) continue;
    throw new NotAnImageError(
      `Cannot use the image in the tar: its layer "${path}" is damaged: it is ${blob?.unpacked ?? "not readable"}, ` +
        `and should be ${wanted[index]}; save the image again`,
    );
  }
  return wanted;
}

function documentAt({ digest }: Descriptor, contents: TarContents): OciDocument | undefined {
  return parsed<OciDocument>(contents.text(blobPath(digest)));
}

export function blobPath(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}

function parsed<T>(text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new NotAnImageError("Cannot read the image in the tar: a document of it is not JSON", { cause: error });
  }
}
