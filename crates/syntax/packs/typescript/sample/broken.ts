/** Before the fault. */
export function before(count: number): number {
  return count + 1;
}

export class Broken {
  start(count: number {
    return count +;
  }

  end(): void {}
}

/** After it. */
export const after = () => before(2);
