/**
 * Features that upstream 1.36 has and disables by default, and that k8ts has behind the same gates (docs/decisions/0048-feature-gates.md).
 * A gate decides which kinds are served and which fields of Pods are kept; whatever is behind it follows from that, so nodes need no gate of
 * their own; one concerns a controller only. Not here: the kinds and fields themselves.
 */
import { changed, changedItems, withChanges } from "./changes.ts";
import type { CronJob } from "./generated/batch/v1.ts";
import type { PodTemplate, Pod, PodSpec, PodTemplateSpec, Volume, VolumeProjection } from "./generated/core/v1.ts";
import type { KubeObject } from "./machinery/object.ts";
import type { Resource, ServedVersion } from "./machinery/resource.ts";

export interface FeatureGates {
  /** Serves ClusterTrustBundles. */
  readonly ClusterTrustBundle: boolean;
  /** Pods may project ClusterTrustBundles. Requires ClusterTrustBundle. */
  readonly ClusterTrustBundleProjection: boolean;
  /** Serves PodCertificateRequests, and Pods may project their certificates. */
  readonly PodCertificateRequest: boolean;
  /** Claims have the condition Unused, with the time since when no Pod uses them. */
  readonly PersistentVolumeClaimUnusedSinceTime: boolean;
}

export type FeatureGate = keyof FeatureGates;

export const DEFAULT_FEATURE_GATES: FeatureGates = {
  ClusterTrustBundle: false,
  ClusterTrustBundleProjection: false,
  PodCertificateRequest: false,
  PersistentVolumeClaimUnusedSinceTime: false,
};

export const FEATURE_GATES = Object.keys(DEFAULT_FEATURE_GATES) as FeatureGate[];

export function isFeatureGate(name: string): name is FeatureGate {
  return Object.hasOwn(DEFAULT_FEATURE_GATES, name);
}

/** The resources with the fields of disabled features dropped when an object is defaulted, as upstream drops them. */
export function dropDisabledFields(resources: readonly Resource[], gates: FeatureGates): readonly Resource[] {
  const isDropped = ({ clusterTrustBundle, podCertificate }: VolumeProjection): boolean =>
    (clusterTrustBundle !== undefined && !gates.ClusterTrustBundleProjection) ||
    (podCertificate !== undefined && !gates.PodCertificateRequest);
  if (gates.ClusterTrustBundleProjection && gates.PodCertificateRequest) return resources;
  return resources.map((resource) => {
    const change = podSpecChange(resource);
    return change === undefined ? resource : withDropped(resource, (object) => change(object, (spec) => withoutSources(spec, isDropped)));
  });
}

type SpecChange = (spec: PodSpec) => PodSpec;
type ObjectChange = (object: KubeObject, change: SpecChange) => KubeObject;

/** How the Pod spec of a kind is changed; undefined: it has none. */
function podSpecChange({ storage: { group }, plural }: Resource): ObjectChange | undefined {
  return POD_SPECS[`${group}/${plural}`];
}

interface Templated extends KubeObject {
  readonly spec?: { readonly template?: PodTemplateSpec };
}

const POD_SPECS: Readonly<Record<string, ObjectChange>> = {
  "/pods": (object, change) => withChanges(object as Pod, { spec: changed((object as Pod).spec, change) }),
  "/podtemplates": (object, change) =>
    withChanges(object as PodTemplate, { template: changed((object as PodTemplate).template, inTemplate(change)) }),
  "/replicationcontrollers": ofTemplated,
  "apps/daemonsets": ofTemplated,
  "apps/deployments": ofTemplated,
  "apps/replicasets": ofTemplated,
  "apps/statefulsets": ofTemplated,
  "batch/jobs": ofTemplated,
  "batch/cronjobs": (object, change) =>
    withChanges(object as CronJob, {
      spec: changed((object as CronJob).spec, (spec) =>
        withChanges(spec, {
          jobTemplate: withChanges(spec.jobTemplate, {
            spec: changed(spec.jobTemplate.spec, (job) => withChanges(job, { template: changed(job.template, inTemplate(change)) })),
          }),
        }),
      ),
    }),
};

function ofTemplated(object: KubeObject, change: SpecChange): KubeObject {
  const { spec } = object as Templated;
  return withChanges(object as Templated, {
    spec: changed(spec, (own) => withChanges(own, { template: changed(own.template, inTemplate(change)) })),
  });
}

function inTemplate(change: SpecChange): (template: PodTemplateSpec) => PodTemplateSpec {
  return (template) => withChanges(template, { spec: changed(template.spec, change) });
}

function withDropped(resource: Resource, drop: (object: KubeObject) => KubeObject): Resource {
  const served = resource.served.map((version): ServedVersion => ({
    ...version,
    defaults: (object) => drop(version.defaults === undefined ? object : version.defaults(object)),
  }));
  return { ...resource, served };
}

function withoutSources(spec: PodSpec, isDropped: (source: VolumeProjection) => boolean): PodSpec {
  return withChanges(spec, {
    volumes: changedItems(spec.volumes, (volume: Volume) =>
      withChanges(volume, {
        projected: changed(volume.projected, (projected) =>
          withChanges(projected, { sources: changedItems(projected.sources, (source) => (isDropped(source) ? dropped(source) : source)) }),
        ),
      }),
    ),
  });
}

function dropped({ clusterTrustBundle: _bundle, podCertificate: _certificate, ...kept }: VolumeProjection): VolumeProjection {
  return kept;
}
