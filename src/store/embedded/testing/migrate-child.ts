/**
 * Opens the store in the directory of its first argument, and kills itself with SIGKILL before the file operation whose number is its
 * second argument. Every modifying call of node:fs/promises counts as one, and every transaction of the new file. Exits successfully if
 * there are fewer.
 */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const [directory = "", step = "0"] = process.argv.slice(2);
let operations = 0;

function count(): void {
  if (operations++ === Number(step)) process.kill(process.pid, "SIGKILL");
}

for (const name of ["rename", "rm", "open", "chmod"] as const) {
  const original = fs[name] as (...values: unknown[]) => Promise<unknown>;
  (fs as Record<string, unknown>)[name] = (...values: unknown[]) => {
    if (values.some((value) => String(value).includes(".migrating"))) count();
    return original(...values);
  };
}
syncBuiltinESMExports();

const { Disk } = await import("../disk.ts");
const write = Disk.prototype.write;
Disk.prototype.write = async function (...values) {
  count();
  await write.apply(this, values);
};
const { openIn } = await import("./temporary.ts");
await (await openIn(directory)).close();
