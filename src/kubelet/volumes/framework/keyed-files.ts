/** The files that a ConfigMap or a Secret is in a volume: all of its keys, or those that are named, each at its path. */
import type { ConfigMap, KeyToPath, Secret } from "../../../api/generated/core/v1.ts";
import { decodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { encodeUtf8 } from "../../../base/utf8.ts";
import { MissingSourceError, VolumeError, type VolumeFile, type VolumeFiles } from "./volume-file.ts";

/** What the four ways of having one in a volume share. */
export interface KeyedSource {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

/** `configMap` is undefined if there is none. */
export function configMapFiles(
  source: KeyedSource & { readonly name?: string },
  configMap: ConfigMap | undefined,
  defaultMode: number,
): VolumeFiles {
  if (configMap === undefined && source.optional !== true) throw new MissingSourceError(`configmap "${source.name ?? ""}" not found`);
  const texts = Object.entries(configMap?.data ?? {}).map(([key, text]) => [key, encodeUtf8(text)] as const);
  const bytes = Object.entries(configMap?.binaryData ?? {}).map(([key, text]) => [key, decodeBase64(text)] as const);
  return filesOf(source, new Map([...texts, ...bytes]), {
    defaultMode,
    missing: (key) => `configmap references non-existent config key: ${key}`,
  });
}

export function secretFiles(
  source: KeyedSource & { readonly name?: string },
  secret: Secret | undefined,
  defaultMode: number,
): VolumeFiles {
  if (secret === undefined && source.optional !== true) throw new MissingSourceError(`secret "${source.name ?? ""}" not found`);
  const bytes = Object.entries(secret?.data ?? {}).map(([key, text]) => [key, decodeBase64(text)] as const);
  return filesOf(source, new Map(bytes), { defaultMode, missing: (key) => `references non-existent secret key: ${key}` });
}

function filesOf(
  { items = [], optional = false }: KeyedSource,
  values: ReadonlyMap<string, Uint8Array>,
  { defaultMode, missing }: { readonly defaultMode: number; readonly missing: (key: string) => string },
): VolumeFiles {
  const files = new Map<string, VolumeFile>();
  if (items.length === 0) for (const [key, data] of values) files.set(key, { data, mode: defaultMode });
  for (const { key, path, mode = defaultMode } of items) {
    const data = values.get(key);
    if (data !== undefined) files.set(path, { data, mode });
    else if (!optional) throw new VolumeError(missing(key));
  }
  return files;
}
