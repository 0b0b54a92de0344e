/**
 * The real kubectl's own patching, without a server (`kubectl patch --local`): a second implementation to compare ours with.
 * Starting it costs about 0.1 s, so one call takes many documents. Only for tests that said `needs("kubectl")`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { toolPath } from "./needs.ts";

export interface PatchedLocally {
  /** By `metadata.name`: what became of each document that could be patched. */
  readonly patched: ReadonlyMap<string, unknown>;
  /** What kubectl said of the others, one sentence after the other. */
  readonly errors: string;
}

/** Applies one patch to each of the documents, which must have different names. */
export async function patchLocally(
  type: "json" | "merge" | "strategic",
  documents: readonly unknown[],
  patch: unknown,
): Promise<PatchedLocally> {
  const args = ["patch", "--local", "-f", "-", "--type", type, "-p", JSON.stringify(patch), "-o", "json"];
  // A kubeconfig of the machine must not matter.
  const child = spawn(toolPath("kubectl"), args, { env: { KUBECONFIG: "/dev/null", HOME: "/nonexistent" }, stdio: "pipe" });
  child.stdin.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: documents }));
  const [output, errors, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  // Code 1 is kubectl's answer to documents that cannot be patched; anything else is no answer.
  if (code !== 0 && code !== 1) throw new Error(`kubectl ended with ${String(code ?? signal)}: ${errors}`);
  return { patched: new Map(objectsIn(output).map((object) => [object.metadata.name, object])), errors: withoutPrefix(errors) };
}

interface Named {
  readonly metadata: { readonly name: string };
}

/** kubectl prints one indented object after the other. */
function objectsIn(output: string): Named[] {
  const texts = output.split(/(?<=^\})\n/m).filter((part) => part.trim() !== "");
  return texts.map((part) => JSON.parse(part) as Named);
}

/** A single error is introduced, several are not. */
function withoutPrefix(errors: string): string {
  return errors.replace(/^error: /, "").trimEnd();
}
