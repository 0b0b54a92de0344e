/** Whether the memory limit of a running container can be decreased: not below its usage, as upstream's kubelet, with its message. */
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import { quantityToNumber } from "../../api/machinery/quantity.ts";

/** `before`: the current limit, if there is one. A limit where there was none is a decrease, too. */
export function isMemoryDecreased(before: string | undefined, limitBytes: number | undefined): boolean {
  if (limitBytes === undefined) return false;
  return before === undefined || limitBytes < quantityToNumber(readQuantity(before));
}

export interface MemoryDecrease {
  readonly name: string;
  readonly limitBytes: number | undefined;
  /** Undefined: unknown; the runtime decides. */
  readonly usageBytes: number | undefined;
}

/** Undefined: the decrease is possible. */
export function memoryDecreaseError({ name, limitBytes, usageBytes }: MemoryDecrease): string | undefined {
  if (limitBytes === undefined || usageBytes === undefined || usageBytes < limitBytes) return undefined;
  const what = `attempting to set container "${name}" memory limit (${limitBytes}) below current usage (${usageBytes})`;
  return `cannot decrease memory limits: ${what}`;
}
