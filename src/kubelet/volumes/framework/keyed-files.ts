/** The files of a ConfigMap or Secret in a volume: all keys, or the listed items, each at its path. Messages are upstream's. */
import type { KeyToPath } from "../../../api/generated/core/v1.ts";
import { decodeBase64 } from "../../../api/machinery/codec/base64.ts";
import { encodeUtf8 } from "../../../base/utf8.ts";
import { MissingSourceError, VolumeError } from "./volume-error.ts";
import type { VolumeFile, VolumeFiles } from "./volume-file.ts";
import type { VolumeNode } from "./volume-plugin.ts";

/** Common fields of configMap and secret volumes and projections. */
export interface KeyedSource {
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

export interface KeyedSourceContext {
  readonly namespace: string;
  readonly defaultMode: number;
  readonly references: VolumeNode["references"];
  readonly signal: AbortSignal;
}

export async function configMapFiles(source: KeyedSource & { readonly name?: string }, context: KeyedSourceContext): Promise<VolumeFiles> {
  const { namespace, references, defaultMode, signal } = context;
  const { name = "" } = source;
  const configMap = await references.configMap(namespace, name, signal);
  if (configMap === undefined && source.optional !== true) throw new MissingSourceError(`configmap "${name}" not found`);
  const texts = Object.entries(configMap?.data ?? {}).map(([key, text]) => [key, encodeUtf8(text)] as const);
  const bytes = Object.entries(configMap?.binaryData ?? {}).map(([key, text]) => [key, decodeBase64(text)] as const);
  return filesOf(source, new Map([...texts, ...bytes]), {
    defaultMode,
    missing: (key) => `configmap references non-existent config key: ${key}`,
  });
}

export async function secretFiles(source: KeyedSource & { readonly name?: string }, context: KeyedSourceContext): Promise<VolumeFiles> {
  const { namespace, references, defaultMode, signal } = context;
  const { name = "" } = source;
  const secret = await references.secret(namespace, name, signal);
  if (secret === undefined && source.optional !== true) throw new MissingSourceError(`secret "${name}" not found`);
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
