/** Warnings about fractional amounts of memory and storage: there is no tenth of a byte. */
import type { Warnings } from "../../../machinery/findings.ts";
import { scaledValue } from "../../../machinery/quantity.ts";
import { readQuantity, type ResourceList } from "./resource-list.ts";

const MILLI = -3;

export function fractionWarnings(
  warnings: Warnings,
  list: ResourceList | undefined,
  at: string,
  names = ["memory", "ephemeral-storage"],
): void {
  for (const name of names) {
    const text = list?.[name];
    if (text === undefined || scaledValue(readQuantity(text), MILLI) % 1000n === 0n) continue;
    warnings.add(`${at}[${name}]: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`);
  }
}
