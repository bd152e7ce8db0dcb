// Rings as arrays of positions, and the edges between these.

/** Each position with the one after it. */
export function steps(positions) {
  return positions.slice(1).map((next, at) => [positions[at], next]);
}

/** The same, with the last position before the first one. */
export function pairs(ring) {
  return ring.map((position, at) => [position, ring[(at + 1) % ring.length]]);
}

export function isSame([x, y], [otherX, otherY]) {
  return x === otherX && y === otherY;
}

/** Positive if the position lies on the left of the edge's line, 0 if on the line. */
export function side([[x, y], [toX, toY]], [ofX, ofY]) {
  return (toX - x) * (ofY - y) - (toY - y) * (ofX - x);
}

/** Twice the area of a ring; positive if it runs counterclockwise. */
export function doubleArea(ring) {
  return pairs(ring).reduce((sum, [[x, y], [toX, toY]]) => sum + x * toY - toX * y, 0);
}

/** The area of a polygon of longitudes and latitudes on a sphere of the Earth's size. */
export function squareKilometres([shell, ...holes]) {
  const radians = (degrees) => (degrees * Math.PI) / 180;
  const area = (ring) => {
    const sum = pairs(ring).reduce((sum, [[x, y], [toX, toY]]) => {
      const step = toX - x - 360 * Math.round((toX - x) / 360);
      return sum + radians(step) * (Math.sin(radians(y)) + Math.sin(radians(toY)));
    }, 0);
    return (Math.abs(sum) / 2) * 6371.0088 ** 2;
  };
  return holes.reduce((rest, hole) => rest - area(hole), area(shell));
}
