document.getElementById("root").textContent="Trailmix"
