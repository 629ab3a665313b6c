(() => {
  const host = document.currentScript.previousElementSibling;
  const settings = document.getElementById("jupyter-config-data");
  if (!host || !settings) return;
  const base = JSON.parse(settings.textContent).baseUrl || "/";
  const key = "__gradbookCharts";
  // Run with a module of its own: a page's AMD loader would swallow it.
  window[key] = window[key] || fetch(base.replace(/\/?$/, "/") + "kernelspecs/__KERNELSPEC__/echarts.min.js")
    .then(r => { if (!r.ok) throw Error(r.status); return r.text(); })
    .then(code => {
      const module = { exports: {} };
      new Function("module", "exports", "define", code)(module, module.exports, undefined);
      return module.exports;
    });
  const kinds = {
    curve(o) {
      o.tooltip.valueFormatter = v => v == null ? "-" : Number(v).toPrecision(4);
      for (const y of o.yAxis) {
        if (y.type === "log") y.axisLabel = { formatter: v => v >= 1e4 || v < 1e-3 ? v.toExponential().replace("e+", "e") : String(v) };
      }
    },
    map(o) {
      o.tooltip.formatter = p => p.data && p.data.tip || "";
      for (const s of o.series) {
        const text = { show: true, color: "#fff", fontSize: 11, lineHeight: 14 };
        Object.assign(s, {
          breadcrumb: { show: false }, nodeClick: false, squareRatio: 1,
          label: { ...text, position: [5, 6], formatter: p => p.name + "\n" + p.data.size },
          upperLabel: { ...text, height: 18, padding: [0, 5], formatter: p => p.name + "  " + p.data.size },
        });
      }
    },
    bars(o) { o.tooltip.formatter = p => p.data && p.data.tip || ""; },
  };
  window[key].then(echarts => {
    const div = document.createElement("div");
    div.style.cssText = "width:100%;height:__HEIGHT__px";
    let chart;
    const draw = () => {
      if (!div.isConnected) return watch.disconnect();
      if (!div.clientWidth) return;
      if (chart) chart.dispose();
      const color = getComputedStyle(host).color, line = "rgba(128,128,128,0.3)";
      const axis = {
        axisLabel: { color }, nameTextStyle: { color }, axisLine: { lineStyle: { color: line } },
        axisTick: { lineStyle: { color: line } }, splitLine: { lineStyle: { color: line } },
      };
      const theme = {
        textStyle: { color, fontFamily: getComputedStyle(host).fontFamily }, legend: { textStyle: { color } }, title: { textStyle: { color } },
        valueAxis: axis, logAxis: axis, categoryAxis: axis, toolbox: { iconStyle: { borderColor: color } },
      };
      const option = __OPTION__;
      kinds["__KIND__"](option);
      chart = echarts.init(div, theme, { renderer: "svg" });
      chart.setOption(option);
    };
    const watch = new MutationObserver(draw);
    watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
    const still = [...host.childNodes];
    host.replaceChildren(div);
    try {
      draw();
      new ResizeObserver(() => chart ? chart.resize() : draw()).observe(div);
    } catch (error) {
      host.replaceChildren(...still);
    }
  }, () => {});
})();
