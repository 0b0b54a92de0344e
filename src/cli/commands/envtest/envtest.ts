/**
 * `k8ts envtest`: writes executables that controller-runtime's envtest starts in place of kube-apiserver and etcd, so that
 * `KUBEBUILDER_ASSETS=DIR go test ./...` runs on k8ts without downloading anything.
 */
import { lstat, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { absolutePath } from "../../../host/files/private-files.ts";
import { findProgram } from "../../../host/processes/find-program.ts";
import { defineCommand, type Io } from "../../framework/command.ts";
import { shellQuote } from "../../framework/shell-quote.ts";

/** In every file that this command writes, and so may replace. */
const MARK = "# Written by k8ts envtest.";

const PROGRAMS = { "kube-apiserver": "apiserver", etcd: "etcd" } as const;

export const envtest = defineCommand({
  description:
    "Write executables kube-apiserver and etcd, and a link to the kubectl on PATH, to a directory. Suites that use controller-runtime's envtest " +
    "run on k8ts with KUBEBUILDER_ASSETS set to it. K8TS_ENVTEST_CONTROLLERS=* starts controllers, too.",
  flags: {},
  arguments: { dir: { doc: "Directory to write to; created if missing." } },
  examples: ["k8ts envtest bin/k8ts", "KUBEBUILDER_ASSETS=$PWD/bin/k8ts go test ./..."],
  options: ({ dir }) => ({ ok: true, options: { directory: absolutePath(dir) } }),

  async run({ directory }: { readonly directory: string }, io) {
    await mkdir(directory, { recursive: true });
    for (const [name, command] of Object.entries(PROGRAMS)) await writeProgram(join(directory, name), command);
    await linkKubectl(join(directory, "kubectl"), io);
    io.out(`export KUBEBUILDER_ASSETS=${shellQuote(directory)}`);
  },
});

async function writeProgram(file: string, command: string): Promise<void> {
  if (!(await isReplaceable(file)))
    throw new Error(`Cannot write ${file}: another program is there; choose another directory, or remove the file`);
  const own = [process.execPath, ...process.execArgv, process.argv[1] ?? ""].map(shellQuote).join(" ");
  const text = `#!/bin/sh\n${MARK}\nexec ${own} envtest ${command} "$@"\n`;
  // A suite may be starting the old one: a running script is never changed in place.
  await writeFile(`${file}.new`, text, { mode: 0o755 });
  await rename(`${file}.new`, file);
}

async function isReplaceable(file: string): Promise<boolean> {
  try {
    return (await readFile(file, "latin1")).includes(MARK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw new Error(`Cannot read ${file}, which would be replaced`, { cause: error });
  }
}

/** kubectl is optional: only suites that call it need it. */
async function linkKubectl(file: string, { environment, note }: Io): Promise<void> {
  const found = findProgram("kubectl", environment["PATH"]);
  if (found === undefined) return note(`kubectl is not on PATH, so ${file} was not linked; suites that call it need it`);
  const present = await lstat(file).catch(() => undefined);
  if (present !== undefined && !present.isSymbolicLink()) return;
  await rm(file, { force: true });
  await symlink(found, file);
}
