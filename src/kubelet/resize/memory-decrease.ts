/** Whether memory can be taken from a container that runs: not what it is using, as upstream's kubelet has it, in its words. */
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import { quantityToNumber } from "../../api/machinery/quantity.ts";

/** `before`: the limit that it was given, if it was given any. A limit where there was none is less, too. */
export function isMemoryDecreased(before: string | undefined, limitBytes: number | undefined): boolean {
  if (limitBytes === undefined) return false;
  return before === undefined || limitBytes < quantityToNumber(readQuantity(before));
}

export interface MemoryDecrease {
  readonly name: string;
  readonly limitBytes: number | undefined;
  /** Undefined: nobody knows, and the runtime has to say. */
  readonly usageBytes: number | undefined;
}

/** Undefined: it can. */
export function memoryDecreaseError({ name, limitBytes, usageBytes }: MemoryDecrease): string | undefined {
  if (limitBytes === undefined || usageBytes === undefined || usageBytes < limitBytes) return undefined;
  const what = `attempting to set container "${name}" memory limit (${limitBytes}) below current usage (${usageBytes})`;
  return `cannot decrease memory limits: ${what}`;
}
