import type { Reader } from "./reader";
import fs, { readFile as read, type Stats } from "node:fs";
import * as path from "node:path";
import "./setup";
import legacy = require("legacy");
export { Shelf as Board } from "./shelf";
export * from "./loans";

/** The most books one reader may have. — „Ausleihe“ */
export const MOST_LOANS = 5;
let open = 0, closed = 1;
const titles = ["Ämter", "Bücher"];
declare const VERSION: string;

/** How a book is kept. */
export enum State {
  /** On its shelf. */
  Kept,
  Lent = "lent",
}

export type Id = string | number;

// What can be lent.
export interface Lendable<T = Id> extends Named, Dated<T> {
  readonly id: T;
  lend(to: Reader): Promise<void>;
  due?(): Date;
}

export function find(id: string): Book | undefined;
export function find(id: number): Book | undefined;
/** Finds a book. */
export function find(id: Id): Book | undefined {
  function matches(book: Book): boolean {
    return book.id === id;
  }
  return shelf.books.find(matches);
}

export default async function* browse(shelf: Shelf) {
  for (const book of shelf.books) yield book;
}

declare function audit(event: string): void;

/**
 * A book.
 */
@entity("book")
@sealed
export class Book extends Item<Id> implements Lendable, Named {
  static #count = 0;
  private readonly lines: string[] = [];

  constructor(readonly id: Id, @inject("clock") private clock: Clock) {
    super(id);
    Book.#count++;
  }

  /** Its title in capitals. */
  @memo()
  get title(): string {
    return `${this.lines.map((line) => upper(line)).join(", ")} — find ${find("x")}`;
  }
  set title(title: string) {
    this.lines.push(title);
  }

  async lend(to: Reader, days = 14): Promise<void> {
    const { name, id: reader } = to;
    try {
      await fs.promises.writeFile(path.join(name, "log"), titles[0]);
    } catch (error) {
      audit(`find ${reader}`);
    }
  }

  onReturn = async (reader: Reader) => {
    this.#close(reader);
  };

  #close(reader: Reader) { return new Receipt(reader); }

  *[Symbol.iterator]() { yield this; }
}

export abstract class Item<T> {
  protected abstract weigh(): number;
  abstract label: string;
}

/** Compares two. */
export const byTitle = (a: Book, b: Book): number => a.title.localeCompare(b.title);
export const api = {
  find,
  /** Lends one. */
  lend: async function (id: Id) { return find(id)?.lend(null!); },
  count() { return open; },
  limit: MOST_LOANS,
};

export namespace Desk.Front {
  export const bell = "🔔";
  export function ring(times: number) {}
}

declare module "reader" {
  export interface Reader { name: string }
}
