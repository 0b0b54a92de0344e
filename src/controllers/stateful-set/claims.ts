/** The PersistentVolumeClaims of a StatefulSet's Pod: `<template>-<set>-<ordinal>`. Pure. Not here: their owners (claim-retention.ts). */
import { claimTemplatesOf } from "../../api/apps/v1/stateful-set-claims.ts";
import type { StatefulSet } from "../../api/generated/apps/v1.ts";
import type { PersistentVolumeClaim, Volume } from "../../api/generated/core/v1.ts";
import type { Draft } from "../../client/client.ts";

/** Looks up a claim of the set's namespace. */
export type ClaimLookup = (name: string) => PersistentVolumeClaim | undefined;

export function claimTemplates({ spec }: StatefulSet): readonly PersistentVolumeClaim[] {
  return spec === undefined ? [] : (claimTemplatesOf(spec) ?? []);
}

export function claimName({ metadata }: StatefulSet, template: PersistentVolumeClaim, ordinal: number): string {
  return `${template.metadata.name}-${metadata.name}-${ordinal}`;
}

export function claimNames(set: StatefulSet, ordinal: number): readonly string[] {
  return claimTemplates(set).map((template) => claimName(set, template, ordinal));
}

/** Claims as they are created, without owners. They have the labels of the set's selector. */
export function claimDrafts(set: StatefulSet, ordinal: number): readonly (Draft<PersistentVolumeClaim> & { metadata: { name: string } })[] {
  return claimTemplates(set).map((template) => {
    const { labels, annotations } = template.metadata;
    return {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        name: claimName(set, template, ordinal),
        ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
        labels: { ...labels, ...set.spec?.selector.matchLabels },
        ...(annotations === undefined ? {} : { annotations }),
      },
      ...(template.spec === undefined ? {} : { spec: template.spec }),
    };
  });
}

/** The volumes of a Pod with those of the claims, which replace volumes of the same name. */
export function withClaimVolumes(set: StatefulSet, ordinal: number, volumes: readonly Volume[] = []): readonly Volume[] {
  const ofClaims = claimTemplates(set).map((template): Volume => ({
    name: template.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, template, ordinal) },
  }));
  const names = new Set(ofClaims.map(({ name }) => name));
  return [...ofClaims, ...volumes.filter(({ name }) => !names.has(name))];
}

/** True if the volumes use the claims of this ordinal. */
export function usesClaims(set: StatefulSet, ordinal: number, volumes: readonly Volume[] = []): boolean {
  return claimTemplates(set).every((template) => {
    const volume = volumes.find(({ name }) => name === template.metadata.name);
    return volume?.persistentVolumeClaim?.claimName === claimName(set, template, ordinal);
  });
}
