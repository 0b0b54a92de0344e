/** The Pods of a StatefulSet as they should be: name, labels, host name and volumes follow from set, revision and ordinal. Pure. */
import type { StatefulSet } from "../../api/generated/apps/v1.ts";
import type { Pod, PodSpec, PodTemplateSpec } from "../../api/generated/core/v1.ts";
import type { Draft } from "../../client/client.ts";
import { podDraft } from "../shared/pod-control.ts";
import { usesClaims, withClaimVolumes } from "./claims.ts";
import { isMember, ordinalOf, podName } from "./ordinals.ts";

export const REVISION_LABEL = "controller-revision-hash";
const POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name";
const POD_INDEX_LABEL = "apps.kubernetes.io/pod-index";

/** A revision of the set: the name of its ControllerRevision, and its template. */
export interface SetRevision {
  readonly name: string;
  readonly template: PodTemplateSpec;
}

/** "" if it has none. */
export function revisionOf({ metadata }: Pod): string {
  return metadata.labels?.[REVISION_LABEL] ?? "";
}

export type NamedDraft = Draft<Pod> & { readonly metadata: { readonly name: string } };

export function newPod(set: StatefulSet, { name: revision, template }: SetRevision, ordinal: number): NamedDraft {
  const draft = podDraft(template, set);
  const name = podName(set, ordinal);
  const { subdomain: _, ...spec }: PodSpec = draft.spec ?? { containers: [] };
  const volumes = withClaimVolumes(set, ordinal, spec.volumes);
  const { serviceName = "" } = set.spec ?? {};
  return {
    ...draft,
    metadata: {
      ...draft.metadata,
      name,
      labels: { ...draft.metadata.labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: revision },
    },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName === "" ? {} : { subdomain: serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}

function identityLabels(name: string, ordinal: number): Readonly<Record<string, string>> {
  return { [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: `${ordinal}` };
}

/** The Pod with the identity and storage of its ordinal; itself if it has them. An adopted Pod may lack them. */
export function corrected(set: StatefulSet, pod: Pod): Pod {
  const ordinal = ordinalOf(pod);
  if (ordinal === undefined) return pod;
  return withStorage(set, ordinal, withIdentity(set, ordinal, pod));
}

function withIdentity(set: StatefulSet, ordinal: number, pod: Pod): Pod {
  const { name, labels } = pod.metadata;
  if (isMember(set, pod) && labels?.[POD_NAME_LABEL] === name) return pod;
  return { ...pod, metadata: { ...pod.metadata, labels: { ...labels, ...identityLabels(name, ordinal) } } };
}

function withStorage(set: StatefulSet, ordinal: number, pod: Pod): Pod {
  const { spec } = pod;
  if (spec === undefined || usesClaims(set, ordinal, spec.volumes)) return pod;
  return { ...pod, spec: { ...spec, volumes: withClaimVolumes(set, ordinal, spec.volumes) } };
}
