/** Validation of the statuses of FlowSchema and PriorityLevelConfiguration: condition types are required and unique. */
import { child, duplicate, element, required, type FieldError } from "../../machinery/field-error.ts";

export interface Status {
  readonly conditions?: readonly { readonly type?: string }[];
}

export function* validateStatus({ conditions = [] }: Status): Iterable<FieldError> {
  const types = new Set<string>();
  for (const [index, { type = "" }] of conditions.entries()) {
    const at = child(element("status.conditions", index), "type");
    if (types.has(type)) yield duplicate(at, type);
    types.add(type);
    if (type === "") yield required(at);
  }
}
