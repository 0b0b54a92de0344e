/**
 * The volume claims that a StatefulSet creates for each of its Pods. Their templates are whole PersistentVolumeClaims, with defaults and a
 * status like any other; in the Pods they replace volumes of the same name.
 */
import { changedItems, withChanges } from "../../changes.ts";
import { defaultClaim } from "../../core/v1/persistent-volume-claim/defaults.ts";
import type { StatefulSetSpec } from "../../generated/apps/v1.ts";
import type { PersistentVolumeClaim, PodTemplateSpec, Volume } from "../../generated/core/v1.ts";

type Claims = readonly PersistentVolumeClaim[];

/** The generated type is untyped here. */
export function claimTemplatesOf({ volumeClaimTemplates }: StatefulSetSpec): Claims | undefined {
  return volumeClaimTemplates as Claims | undefined;
}

export function withDefaultClaims(spec: StatefulSetSpec): StatefulSetSpec {
  const claims = changedItems(claimTemplatesOf(spec), defaultClaimTemplate);
  return withChanges(spec, { volumeClaimTemplates: claims as StatefulSetSpec["volumeClaimTemplates"] });
}

/** Upstream sets kind and apiVersion for historical reasons. */
function defaultClaimTemplate(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  return defaultClaim(withChanges(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim" }));
}

/** The template as the Pods will have it: the controller sets host name and subdomain, and adds the claims' volumes. */
export function podTemplateWithClaims(spec: StatefulSetSpec): PodTemplateSpec {
  const { template } = spec;
  const claims = claimTemplatesOf(spec) ?? [];
  const { subdomain = "", hostname = "", volumes } = template.spec ?? {};
  if (template.spec === undefined || (subdomain === "" && hostname === "" && claims.length === 0)) return template;
  const { subdomain: _subdomain, hostname: _hostname, ...kept } = template.spec;
  if (claims.length === 0) return { ...template, spec: kept };
  return { ...template, spec: { ...kept, volumes: withClaimVolumes(volumes ?? [], claims) } };
}

function withClaimVolumes(volumes: readonly Volume[], claims: Claims): readonly Volume[] {
  const names = new Set(claims.map(({ metadata }) => metadata?.name ?? ""));
  const ofClaims = [...names].map((name): Volume => ({ name, persistentVolumeClaim: { claimName: name } }));
  return [...ofClaims, ...volumes.filter(({ name }) => !names.has(name))];
}
