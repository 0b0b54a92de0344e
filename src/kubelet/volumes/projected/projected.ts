/**
 * projected: several sources in one directory, among them service account tokens, trust anchors and certificates. If sources fail, the errors of all are reported
 * together, as upstream.
 */
import type { Pod, PodCertificateProjection, VolumeProjection } from "../../../api/generated/core/v1.ts";
import { encodeUtf8 } from "../../../base/utf8.ts";
import { downwardFiles } from "../framework/downward-files.ts";
import { soleUserOf } from "../framework/file-rights.ts";
import { FILE_MODE_DEFAULT, filesPlugin } from "../framework/files-plugin.ts";
import { configMapFiles, secretFiles } from "../framework/keyed-files.ts";
import { trustAnchors } from "./trust-anchors.ts";
import { combineErrors, VolumeError } from "../framework/volume-error.ts";
import type { VolumeFile, VolumeFiles } from "../framework/volume-file.ts";
import type { VolumeNode } from "../framework/volume-plugin.ts";

/** Mode of a token that not every user in the Pod may read. */
const PRIVATE_MODE = 0o600;

interface ProjectionContext {
  readonly pod: Pod;
  readonly volumeName: string;
  /** Position of the source in the volume. */
  readonly index: number;
  readonly node: VolumeNode;
  readonly defaultMode: number;
  readonly signal: AbortSignal;
}

export const projected = filesPlugin({
  source: "projected",
  directory: "kubernetes.io~projected",
  medium: "memory",
  isEphemeral: false,
  async resolve({ pod, volume }, node, signal) {
    const { sources = [], defaultMode = FILE_MODE_DEFAULT } = volume.projected ?? {};
    const context = { pod, volumeName: volume.name, node, defaultMode, signal };
    const results = await Promise.allSettled(sources.map((source, index) => projectionFiles(source, { ...context, index })));
    const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    if (errors.length > 0) throw combineErrors(errors);
    // The later source wins where two have the same path.
    return new Map(results.flatMap((result) => (result.status === "fulfilled" ? [...result.value] : [])));
  },
});

async function projectionFiles(source: VolumeProjection, context: ProjectionContext): Promise<VolumeFiles> {
  const { pod, node, defaultMode, signal } = context;
  const { references, tokens } = node;
  const keyed = { namespace: pod.metadata.namespace ?? "", defaultMode, references, signal };
  if (source.secret !== undefined) return secretFiles(source.secret, keyed);
  if (source.configMap !== undefined) return configMapFiles(source.configMap, keyed);
  if (source.downwardAPI !== undefined)
    return downwardFiles(source.downwardAPI.items ?? [], { pod, nodeAllocatable: node.nodeAllocatable(), defaultMode });
  if (source.serviceAccountToken !== undefined) {
    const { path, ...wish } = source.serviceAccountToken;
    const data = encodeUtf8(await tokens.token(pod, wish, signal));
    return new Map([[path, { data, ...privateRights(pod, defaultMode) }]]);
  }
  if (source.clusterTrustBundle !== undefined) {
    const bundles = await references.trustBundles(pod.metadata.uid ?? "", signal);
    const data = encodeUtf8(trustAnchors(source.clusterTrustBundle, bundles));
    return new Map([[source.clusterTrustBundle.path, { data, ...privateRights(pod, defaultMode) }]]);
  }
  if (source.podCertificate !== undefined) return certificateFiles(source.podCertificate, context);
  const [unsupported] = Object.keys(source);
  // As upstream: a source whose feature gate is off arrives without its field.
  if (unsupported === undefined) return new Map();
  throw new VolumeError(`sources of type ${unsupported} are not supported by this version`);
}

async function certificateFiles(projection: PodCertificateProjection, context: ProjectionContext): Promise<VolumeFiles> {
  const { pod, volumeName, index, node, defaultMode, signal } = context;
  const { key, certificateChain } = await node.podCertificates.credentials({ pod, volumeName, index, projection }, signal);
  const contents = [
    [projection.credentialBundlePath, key + certificateChain],
    [projection.keyPath, key],
    [projection.certificateChainPath, certificateChain],
  ] as const;
  const rights = privateRights(pod, defaultMode);
  return new Map(contents.flatMap(([path, text]) => (path ? [[path, { data: encodeUtf8(text), ...rights }]] : [])));
}

/** Such a file is readable by the Pod's only user if there is exactly one; `fsGroup` adds its group when the volume is published. */
function privateRights(pod: Pod, defaultMode: number): Omit<VolumeFile, "data"> {
  const ownerUid = soleUserOf(pod);
  if (ownerUid !== undefined) return { mode: PRIVATE_MODE, ownerUid };
  return { mode: pod.spec?.securityContext?.fsGroup === undefined ? defaultMode : PRIVATE_MODE };
}
