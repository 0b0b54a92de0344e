/**
 * Writes files, directories and symbolic links as a tar archive (ustar, which every reader supports). The owner is root and there are no
 * timestamps, so that the same files give the same bytes on every machine. Names have at most 100 bytes, which is enough for what k8ts
 * creates itself.
 */

export type TarEntry =
  | { readonly is: "file"; readonly path: string; readonly content: Uint8Array; readonly mode?: number }
  | { readonly is: "directory"; readonly path: string; readonly mode?: number }
  | { readonly is: "link"; readonly path: string; readonly target: string };

export const TAR_BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;
/** Default modes: readable by all users, directories also searchable. */
const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;
const LINK_MODE = 0o777;

const TYPE_FLAGS = { file: "0", link: "2", directory: "5" } as const;

export function writeTar(entries: readonly TarEntry[]): Uint8Array {
  // Two blocks of zeros end the archive.
  return joined([...entries.flatMap((entry) => [header(entry), ...contentBlocks(entry)]), new Uint8Array(2 * TAR_BLOCK_BYTES)]);
}

function contentBlocks(entry: TarEntry): readonly Uint8Array[] {
  if (entry.is !== "file") return [];
  const padding = -entry.content.length & (TAR_BLOCK_BYTES - 1);
  return [entry.content, new Uint8Array(padding)];
}

function header(entry: TarEntry): Uint8Array {
  const block = new Uint8Array(TAR_BLOCK_BYTES);
  const put = (offset: number, text: string) => block.set(new TextEncoder().encode(text), offset);
  put(0, checkedName(entry.is === "directory" ? `${entry.path}/` : entry.path));
  put(100, octal(modeOf(entry), 8));
  put(108, octal(0, 8)); // User ID,
  put(116, octal(0, 8)); // group ID,
  put(124, octal(entry.is === "file" ? entry.content.length : 0, 12));
  put(136, octal(0, 12)); // modification time.
  put(156, TYPE_FLAGS[entry.is]);
  if (entry.is === "link") put(157, checkedName(entry.target));
  put(257, "ustar\0" + "00");
  // Checksum: the sum of all bytes, the field itself counted as blanks.
  put(148, " ".repeat(8));
  put(
    148,
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
  );
  return block;
}

function modeOf(entry: TarEntry): number {
  if (entry.is === "link") return LINK_MODE;
  return entry.mode ?? (entry.is === "file" ? FILE_MODE : FOLDER_MODE);
}

/** Fixed-width field, terminated by NUL. */
function octal(value: number, widthBytes: number): string {
  return `${value.toString(8).padStart(widthBytes - 1, "0")}\0`;
}

function checkedName(name: string): string {
  if (new TextEncoder().encode(name).length <= NAME_BYTES_MAX) return name;
  throw new RangeError(`Cannot put "${name}" into a tar: a name may have ${NAME_BYTES_MAX} bytes`);
}

export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}
