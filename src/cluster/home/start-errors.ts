/**
 * Failures of the machine as sentences that a person can act on: which thing, what is wrong with it, which flag or command helps.
 * What is no such failure passes unchanged. Not here: where it cannot listen (listen-errors.ts).
 */

interface FileAction {
  /** Such as "use /var/lib/k8ts". */
  readonly action: string;
  /** With which another place can be given. Absent: it is about what is in this one, and no other helps. */
  readonly flag?: string;
}

interface Advice {
  readonly why: string;
  /** Each of them helps; `FLAG` is put in. */
  readonly remedies: readonly string[];
}

const ANOTHER_PLACE = "choose another path with FLAG";

/** By the system's code. */
const FILE_ADVICE: Readonly<Record<string, Advice>> = {
  EACCES: { why: "this user has no write permission", remedies: [ANOTHER_PLACE, "have its owner grant it"] },
  EPERM: {
    why: "this user is not its owner, or it is immutable (see lsattr)",
    remedies: [ANOTHER_PLACE, "have its owner change that"],
  },
  EROFS: { why: "the file system is read-only", remedies: [ANOTHER_PLACE, "remount it read-write"] },
  ENOSPC: { why: "no space is left on the disk", remedies: ["free some (see df -h)", ANOTHER_PLACE] },
  EDQUOT: { why: "the disk quota is exceeded", remedies: ["free some space", ANOTHER_PLACE] },
  EEXIST: { why: "it is a file, not a directory", remedies: [ANOTHER_PLACE] },
  ENOENT: { why: "it cannot be created there", remedies: [ANOTHER_PLACE] },
  ENOTDIR: { why: "a component of the path is not a directory", remedies: [ANOTHER_PLACE] },
  EISDIR: { why: "it is a directory, not a file", remedies: [ANOTHER_PLACE] },
  ENAMETOOLONG: { why: "the path, or a name in it, is too long", remedies: ["choose a shorter one with FLAG"] },
  ELOOP: { why: "the path contains a symbolic link loop", remedies: [ANOTHER_PLACE] },
  EMFILE: { why: "this process has too many open files", remedies: ["raise the limit (ulimit -n)"] },
  ENFILE: { why: "this machine has too many open files", remedies: ["raise the limit (sysctl fs.file-max)"] },
};

export function explainFileError(error: unknown, { action, flag }: FileAction): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const advice = code !== undefined && Object.hasOwn(FILE_ADVICE, code) ? FILE_ADVICE[code] : undefined;
  if (!(error instanceof Error) || advice === undefined) return error;
  const path = meantPath(error);
  const place = path === undefined || action.endsWith(path) ? "" : ` (${path})`;
  return new Error(`Cannot ${action}: ${adviceText(advice, flag)}${place}`, { cause: error });
}

function adviceText({ why, remedies }: Advice, flag: string | undefined): string {
  const helpful = flag === undefined ? remedies.filter((remedy) => !remedy.includes("FLAG")) : remedies;
  return [why, ...(helpful.length === 0 ? [] : [helpful.join(", or ")])].join("; ").replaceAll("FLAG", flag ?? "");
}

/** Writes go to a temporary file first, whose name the user does not know (writeFileWhole). */
function meantPath({ path, dest }: NodeJS.ErrnoException & { readonly dest?: string }): string | undefined {
  return (dest ?? path)?.replace(/\.\d+\.partial$/, "");
}

/** For commands that inspect, stop or remove a cluster, which may belong to another user. */
export function explainForeignHome(error: unknown, directory: string): unknown {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  if (code !== "EACCES" && code !== "EPERM") return explainFileError(error, { action: `access ${directory}`, flag: "--data-dir" });
  const advice = "run this as the owner of the cluster or with sudo, or choose another cluster with --name or --data-dir";
  return new Error(`Cannot access ${directory}: permission denied; ${advice}`, { cause: error });
}

/** Codes that say nothing about a home that was created before. */
const OF_THE_PLACE_ITSELF = ["ENOENT", "EEXIST"];

/**
 * For starts, unless another action failed: only for files of the cluster, because errors of other files name their flag. However the error
 * is wrapped.
 */
export function explainHomeError(
  error: unknown,
  directory: string,
  failed: FileAction = { action: `use ${directory}`, flag: "--data-dir" },
): unknown {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { path = "", code = "" } = each as NodeJS.ErrnoException;
    if (!path.startsWith(`${directory}/`) || OF_THE_PLACE_ITSELF.includes(code)) continue;
    const explained = explainFileError(each, failed);
    return explained === each ? error : explained;
  }
  return error;
}
