/**
 * The program that holds a Pod's namespaces: it does nothing, for ever, in 300 bytes of our own making, so that a cluster needs no download.
 *
 *   ignore SIGCHLD             so that what it inherits in a shared process namespace vanishes when it ends, and leaves no zombie
 *   block SIGINT and SIGTERM   the first process of a namespace is not sent them otherwise
 *   wait for one of them       and again, if something else woke it up
 *   exit with 0
 *
 * The program is written twice, instruction by instruction, in the words of each processor. Both are a whole file: one ELF header, one
 * segment with all of it, the instructions, then two tables for the kernel.
 */
import { joined } from "../../../host/archive/tar-writer.ts";

/** Architectures with a program, by their OCI and Node names. */
export type PauseArchitecture = "amd64" | "arm64";

export function pauseProgram(architecture: PauseArchitecture): Uint8Array {
  return architecture === "amd64" ? elf(EM_X86_64, amd64()) : elf(EM_AARCH64, arm64());
}

const SIGINT = 2;
const SIGTERM = 15;
const SIGCHLD = 17;
const SIG_BLOCK = 0;
/** Size of signal sets in bytes, which the kernel requires. */
const SIGNAL_SET_BYTES = 8;

/** struct sigaction of the kernel: handler, flags, restorer, mask. The handler 1 is SIG_IGN. */
const IGNORE = numbers64(1n, 0n, 0n, 0n);
/** Bit n - 1 is signal n. */
const SIGNALS = numbers64((1n << BigInt(SIGINT - 1)) | (1n << BigInt(SIGTERM - 1)));

/** The two tables follow the instructions: IGNORE, then SIGNALS. */
interface Tables {
  readonly ignoreAt: number;
  readonly signalsAt: number;
}

/**
 * Instructions refer to later addresses, so they are assembled twice: first to measure their length, which does not depend on the
 * addresses.
 */
function withTables(instructions: (tables: Tables) => Uint8Array): Uint8Array {
  const { length } = instructions({ ignoreAt: 0, signalsAt: 0 });
  const ignoreAt = Math.ceil(length / 8) * 8;
  const signalsAt = ignoreAt + IGNORE.length;
  return joined([instructions({ ignoreAt, signalsAt }), new Uint8Array(ignoreAt - length), IGNORE, SIGNALS]);
}

// x86-64: system call number in eax; arguments in edi, rsi, rdx, r10; result in eax.

function amd64(): Uint8Array {
  const CALL = { rt_sigaction: 13, rt_sigprocmask: 14, rt_sigtimedwait: 128, exit: 60 };
  const SYSCALL = [0x0f, 0x05];
  const ZERO_RSI = [0x31, 0xf6]; // xor esi, esi
  const ZERO_RDX = [0x31, 0xd2]; // xor edx, edx
  const setEax = (value: number) => [0xb8, ...bytes32(value)];
  const setEdi = (value: number) => [0xbf, ...bytes32(value)];
  const setR10 = (value: number) => [0x41, 0xba, ...bytes32(value)];
  /** lea reg, [rip + distance]: relative to the next instruction. */
  const LEA_BYTES = 7;
  const leaRsi = (here: number, target: number) => [0x48, 0x8d, 0x35, ...bytes32(target - here - LEA_BYTES)];
  const leaRdi = (here: number, target: number) => [0x48, 0x8d, 0x3d, ...bytes32(target - here - LEA_BYTES)];

  return withTables(({ ignoreAt, signalsAt }) => {
    const code: number[] = [];
    // rt_sigaction(SIGCHLD, IGNORE, NULL, 8)
    code.push(...setEax(CALL.rt_sigaction), ...setEdi(SIGCHLD));
    code.push(...leaRsi(code.length, ignoreAt));
    code.push(...ZERO_RDX, ...setR10(SIGNAL_SET_BYTES), ...SYSCALL);
    // rt_sigprocmask(SIG_BLOCK, SIGNALS, NULL, 8)
    code.push(...setEax(CALL.rt_sigprocmask), ...setEdi(SIG_BLOCK));
    code.push(...leaRsi(code.length, signalsAt));
    code.push(...ZERO_RDX, ...setR10(SIGNAL_SET_BYTES), ...SYSCALL);
    // rt_sigtimedwait(SIGNALS, NULL, NULL, 8)
    const wait = code.length;
    code.push(...setEax(CALL.rt_sigtimedwait));
    code.push(...leaRdi(code.length, signalsAt));
    code.push(...ZERO_RSI, ...ZERO_RDX, ...setR10(SIGNAL_SET_BYTES), ...SYSCALL);
    // A negative result is an error: wait again.
    code.push(0x85, 0xc0); // test eax, eax
    code.push(0x78, (wait - (code.length + 2)) & 0xff); // js wait
    // exit(0)
    code.push(...setEax(CALL.exit), ...setEdi(0), ...SYSCALL);
    return Uint8Array.from(code);
  });
}

// AArch64: system call number in x8; arguments in x0 to x3; result in x0. Every instruction has 32 bits.

function arm64(): Uint8Array {
  const CALL = { rt_sigaction: 134, rt_sigprocmask: 135, rt_sigtimedwait: 137, exit: 93 };
  const SUPERVISOR_CALL = 0xd4000001; // svc #0
  /** movz x<register>, #value */
  const set = (register: number, value: number) => 0xd2800000 | (value << 5) | register;
  /** adr x<register>, target: relative to this instruction; its two lowest bits are encoded separately. */
  const address = (register: number, here: number, target: number) => {
    const distance = target - here;
    return 0x10000000 | ((distance & 3) << 29) | ((distance >> 2) << 5) | register;
  };
  /** tbnz w0, #31, target: jump if the result is negative. */
  const ifNegative = (here: number, target: number) => 0x37f80000 | ((((target - here) >> 2) & 0x3fff) << 5);

  return withTables(({ ignoreAt, signalsAt }) => {
    const code: number[] = [];
    const here = () => code.length * 4;
    // rt_sigaction(SIGCHLD, IGNORE, NULL, 8)
    code.push(set(8, CALL.rt_sigaction), set(0, SIGCHLD));
    code.push(address(1, here(), ignoreAt), set(2, 0), set(3, SIGNAL_SET_BYTES), SUPERVISOR_CALL);
    // rt_sigprocmask(SIG_BLOCK, SIGNALS, NULL, 8)
    code.push(set(8, CALL.rt_sigprocmask), set(0, SIG_BLOCK));
    code.push(address(1, here(), signalsAt), set(2, 0), set(3, SIGNAL_SET_BYTES), SUPERVISOR_CALL);
    // rt_sigtimedwait(SIGNALS, NULL, NULL, 8), again after an error
    const wait = here();
    code.push(set(8, CALL.rt_sigtimedwait));
    code.push(address(0, here(), signalsAt), set(1, 0), set(2, 0), set(3, SIGNAL_SET_BYTES), SUPERVISOR_CALL);
    code.push(ifNegative(here(), wait));
    // exit(0)
    code.push(set(8, CALL.exit), set(0, 0), SUPERVISOR_CALL);
    return Uint8Array.from(code.flatMap(bytes32));
  });
}

// The file.

const EM_X86_64 = 62;
const EM_AARCH64 = 183;
const ELF_HEADER_BYTES = 64;
const SEGMENT_HEADER_BYTES = 56;
/** Usual load address of programs; any that is free in every process would do. */
const LOADED_AT = 0x400000n;
/** Segments are aligned to the largest page that a kernel of either processor may have, 64 KiB. */
const ALIGNMENT = 0x10000n;

function elf(machine: number, program: Uint8Array): Uint8Array {
  const programAt = ELF_HEADER_BYTES + SEGMENT_HEADER_BYTES;
  const lengthBytes = BigInt(programAt + program.length);
  return joined([
    Uint8Array.of(0x7f, 0x45, 0x4c, 0x46), // "ELF"
    Uint8Array.of(2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), // 64 bits, lowest byte first, version 1
    numbers16(2, machine), // an executable program
    numbers32(1), // version 1
    numbers64(LOADED_AT + BigInt(programAt), BigInt(ELF_HEADER_BYTES), 0n), // starts at; segments at; no sections
    numbers32(0), // no flags
    numbers16(ELF_HEADER_BYTES, SEGMENT_HEADER_BYTES, 1, 0, 0, 0), // one segment, no sections
    numbers32(1, 5), // to be loaded; may be read and executed
    numbers64(0n, LOADED_AT, LOADED_AT, lengthBytes, lengthBytes, ALIGNMENT), // the whole file
    program,
  ]);
}

function bytes32(value: number): number[] {
  return [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, (value >> 24) & 0xff];
}

function numbers16(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value & 0xff, value >> 8]));
}

function numbers32(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap(bytes32));
}

function numbers64(...values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 8);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => view.setBigUint64(index * 8, value, true));
  return bytes;
}
