/** Semantic equality of two specs: amounts compare by value, so "1Gi" equals "1024Mi". */
import { withoutTrailing } from "../../../../base/text.ts";
import { deepEqual } from "../../../../base/deep.ts";
import type { Container, PodSpec, ResourceRequirements } from "../../../generated/core/v1.ts";
import { changed, changedItems, withChanges } from "../../../changes.ts";
import { readQuantity, type ResourceList } from "./resource-list.ts";

export function isSameSpec(a: PodSpec, b: PodSpec): boolean {
  return deepEqual(a, b) || deepEqual(comparableSpec(a), comparableSpec(b));
}

export function isSameContainer(a: Container, b: Container): boolean {
  return deepEqual(a, b) || deepEqual(comparableContainer(a), comparableContainer(b));
}

export function isSameRequirements(a: ResourceRequirements | undefined, b: ResourceRequirements | undefined): boolean {
  return deepEqual(a, b) || deepEqual(changed(a, comparableRequirements), changed(b, comparableRequirements));
}

function comparableSpec(spec: PodSpec): PodSpec {
  return withChanges(spec, {
    containers: changedItems(spec.containers, comparableContainer),
    initContainers: changedItems(spec.initContainers, comparableContainer),
    resources: changed(spec.resources, comparableRequirements),
    overhead: changed(spec.overhead, comparableList),
  });
}

function comparableContainer(container: Container): Container {
  return withChanges(container, { resources: changed(container.resources, comparableRequirements) });
}

function comparableRequirements(requirements: ResourceRequirements): ResourceRequirements {
  return withChanges(requirements, {
    limits: changed(requirements.limits, comparableList),
    requests: changed(requirements.requests, comparableList),
  });
}

/** One text per amount: digits without trailing zeros, and the power of ten. */
function comparableList(list: ResourceList): ResourceList {
  return Object.fromEntries(Object.entries(list).map(([name, text]) => [name, comparableAmount(text)]));
}

function comparableAmount(text: string): string {
  const { unscaled, exponent } = readQuantity(text);
  const digits = unscaled.toString();
  const significant = withoutTrailing(digits, "0");
  return significant === "" ? "0" : `${significant}e${exponent + digits.length - significant.length}`;
}
