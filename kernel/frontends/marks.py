"""Counts the marks of a chart: what was drawn, not what was meant to be."""

# Fills of the map's boxes and strokes of the curve, as viz/palette.go and viz/residency_draw.go name them.
PARAMETER, GRADIENT, OPTIMIZER, DATA = "#2f6da6", "#b0560a", "#1f7a51", "#0f7683"
FIRST_SERIES = "#3d85c6"

# For each picture of an output: interactive charts are svg elements in the page, still ones are images.
# Their source is a data URL, which is parsed, so that both are looked at in the same way.
MARKS = """root => {
  const hex = color => {
    const parts = (color || "").match(/^rgba?\\((\\d+), ?(\\d+), ?(\\d+)/);
    return parts ? "#" + parts.slice(1).map(n => (+n).toString(16).padStart(2, "0")).join("") : (color || "").toLowerCase();
  };
  const pictures = [];
  const read = (svg, kind, shown) => {
    const boxes = {}, lines = {}, texts = [];
    for (const e of svg.querySelectorAll("path, rect, polyline")) {
      const fill = hex(e.getAttribute("fill")), stroke = hex(e.getAttribute("stroke"));
      if (fill && fill !== "none" && fill !== "transparent") boxes[fill] = (boxes[fill] || 0) + 1;
      const points = ((e.getAttribute("d") || "").match(/[MLCSQ\\d.,-]+/g) || []).join(" ").match(/-?[\\d.]+[ ,]-?[\\d.]+/g) || [];
      if (stroke && stroke !== "none") lines[stroke] = Math.max(lines[stroke] || 0, points.length);
    }
    for (const e of svg.querySelectorAll("text")) texts.push(e.textContent);
    pictures.push({ kind, width: shown.width, height: shown.height, boxes, lines, texts: texts.join("\\n") });
  };
  for (const svg of root.querySelectorAll("[_echarts_instance_] svg")) read(svg, "chart", svg.getBoundingClientRect());
  for (const img of root.querySelectorAll('img[src^="data:image/svg+xml;base64,"]')) {
    if (!img.complete || img.naturalWidth === 0) continue;
    const bytes = Uint8Array.from(atob(img.src.split(",")[1]), c => c.charCodeAt(0));
    read(new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml"), "still", img.getBoundingClientRect());
  }
  return pictures;
}"""


def pictures(frontend):
    """All pictures of the page in order, each with its kind, size, boxes and lines by colour, and texts."""
    found = frontend.page.locator(".jp-Notebook").evaluate(MARKS)
    return [p for p in found if p["width"] > 100 and p["height"] > 50]


def curves(frontend, points=20):
    """The pictures with a line of the first series' colour through at least so many points."""
    return [p for p in pictures(frontend) if p["lines"].get(FIRST_SERIES, 0) >= points]


def maps(frontend):
    """The pictures with boxes of parameters."""
    return [p for p in pictures(frontend) if p["boxes"].get(PARAMETER, 0) > 0]
