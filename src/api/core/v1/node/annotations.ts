/** Two legacy annotations that fields have replaced. They are no longer read, but still validated. */
import type { Taint } from "../../../generated/core/v1.ts";
import { parseExactly } from "../../../machinery/codec/json-parser.ts";
import { child, element, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { isObject, type Json } from "../../../machinery/object.ts";
import { validateTaints } from "./taints.ts";

const AT = "metadata.annotations";
const TAINTS = "scheduler.alpha.kubernetes.io/taints";
const AVOID_PODS = "scheduler.alpha.kubernetes.io/preferAvoidPods";

export function* validateNodeAnnotations(annotations: Readonly<Record<string, string>>): Iterable<FieldError> {
  const { [TAINTS]: taints = "", [AVOID_PODS]: avoided = "" } = annotations;
  if (taints !== "") yield* validateTaintsText(taints);
  if (avoided !== "") yield* validateAvoidedPods(avoided);
}

function* validateTaintsText(text: string): Iterable<FieldError> {
  const read = readJson(text);
  if (read.problem !== undefined) yield invalid(AT, TAINTS, read.problem);
  else if (Array.isArray(read.value)) yield* validateTaints(read.value.map(taintOf), child(AT, TAINTS));
}

function taintOf(value: Json): Taint {
  const { key, value: text, effect } = objectOf(value);
  return { key: textOf(key), value: textOf(text), effect: textOf(effect) as Taint["effect"] };
}

function* validateAvoidedPods(text: string): Iterable<FieldError> {
  const read = readJson(text);
  if (read.problem !== undefined) {
    yield invalid(child(AT, "AvoidPods"), AVOID_PODS, read.problem);
    return;
  }
  const { preferAvoidPods: entries } = objectOf(read.value);
  for (const [index, entry] of (Array.isArray(entries) ? entries : []).entries()) {
    const here = child(element(child(AT, AVOID_PODS), index), "PodSignature");
    const { podController } = objectOf(objectOf(entry).podSignature ?? null);
    if (podController === undefined || podController === null) yield required(here);
    else if (objectOf(podController).controller !== true) {
      yield invalid(child(here, "PodController.Controller"), false, "must point to a controller");
    }
  }
}

type Read = { readonly value: Json; readonly problem?: never } | { readonly value?: never; readonly problem: string };

function readJson(text: string): Read {
  try {
    return { value: parseExactly(text).value };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function objectOf(value: Json): Readonly<Record<string, Json | undefined>> {
  return isObject(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
