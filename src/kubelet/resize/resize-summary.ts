/** Summary of a resize for events, as upstream writes it: JSON with members in upstream's order and resources by name. */
import type { Container, Pod, ResourceRequirements } from "../../api/generated/core/v1.ts";
import type { ResourceList } from "../../api/core/v1/pod/resource-list.ts";

export function resizeSummary({ spec }: Pod, generation = 0, error?: string): string {
  const [initContainers, containers] = [spec?.initContainers ?? [], spec?.containers ?? []].map((some) => some.map(summaryOf));
  return JSON.stringify({
    ...(initContainers?.length === 0 ? {} : { initContainers }),
    ...(containers?.length === 0 ? {} : { containers }),
    generation,
    ...(error === undefined ? {} : { error }),
  });
}

function summaryOf({ name, resources = {} }: Container) {
  return { name, resources: requirements(resources) };
}

function requirements({ limits, requests, claims }: ResourceRequirements): ResourceRequirements {
  return { ...(limits && { limits: sorted(limits) }), ...(requests && { requests: sorted(requests) }), ...(claims && { claims }) };
}

function sorted(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
