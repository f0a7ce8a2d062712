/**
 * Output of a process that has arrived and was not read yet.
 *
 * The server sends at most one window of output. Bytes that were read are
 * returned to the window, so a guest that writes faster than its reader reads
 * has to wait.
 *
 * Unread output must not block a caller that waits for the end of the process.
 * While such a caller waits and nobody reads, all bytes are returned at once.
 * The newest ones are kept, and older ones are dropped and counted.
 */
import type { Stream } from "./types.js";

export const WINDOW_BYTES = 1 << 20;
const KEPT_BYTES = 1 << 20;

export interface Piece {
  stream: Stream;
  data: Uint8Array;
}

/** Returns bytes to a window of the server, half a window at a time. */
export class Window {
  #used = 0;
  constructor(readonly giveBack: (bytes: number) => void) {}

  use(bytes: number): void {
    this.#used += bytes;
    if (this.#used < WINDOW_BYTES / 2) return;
    this.giveBack(this.#used);
    this.#used = 0;
  }
}

export class Output {
  droppedBytes = 0;
  readonly #window: Window;
  #pieces: Piece[] = [];
  #bytes = 0;
  #released = 0; // of #bytes: returned to the window before they were read
  #isOver = false;
  #wakeReaders: (() => void)[] = [];
  #readers = 0; // between the first piece and the last
  #waiters = 0; // callers that do not read

  constructor(giveBack: (bytes: number) => void) {
    this.#window = new Window(giveBack);
  }

  put(piece: Piece): void {
    this.#pieces.push(piece);
    this.#bytes += piece.data.length;
    this.#wake();
    if (this.#waiters) this.#release();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The pieces, until the end. */
  async *read(): AsyncGenerator<Piece, void> {
    this.#readers++;
    try {
      for (let p = await this.#next(); p; p = await this.#next()) yield p;
    } finally {
      this.#readers--;
      if (this.#waiters) this.#release();
    }
  }

  /** Waits without reading. */
  async waiting<T>(result: Promise<T>): Promise<T> {
    this.#waiters++;
    this.#release();
    try {
      return await result;
    } finally {
      this.#waiters--;
    }
  }

  async #next(): Promise<Piece | undefined> {
    while (!this.#pieces.length) {
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => this.#wakeReaders.push(resolve));
    }
    return this.#take();
  }

  #take(): Piece {
    const piece = this.#pieces.shift()!;
    const size = piece.data.length;
    const released = Math.min(this.#released, size);
    this.#bytes -= size;
    this.#released -= released;
    this.#window.use(size - released);
    return piece;
  }

  #release(): void {
    if (this.#readers) return;
    this.#window.use(this.#bytes - this.#released);
    this.#released = this.#bytes;
    while (this.#bytes > KEPT_BYTES && this.#pieces.length > 1)
      this.droppedBytes += this.#take().data.length;
  }

  #wake(): void {
    const readers = this.#wakeReaders;
    this.#wakeReaders = [];
    for (const wake of readers) wake();
  }
}
